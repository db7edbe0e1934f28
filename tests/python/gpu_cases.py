#!/usr/bin/env python3
"""Steps over torch on a GPU, sound and faulty, and what must be found. Needs torch, NumPy and no pytest.

usage: gpu_cases.py [case...]      prints a line a case, and exits 1 if one failed, 77 without a GPU
"""

import os
import sys
import time

import torch

import graphsan

PAGES, PAGE_SIZE, DIM, TOKENS, BUCKET, STEPS = 5, 16, 64, 3, 4, 4
HERE = os.path.basename(__file__)


class Scene:
    """Sequence i grows in page i + 1; page 0 is the null page."""

    def __init__(self, counts=(TOKENS,) * STEPS):
        torch.manual_seed(9)
        self.cache = torch.zeros((PAGES, PAGE_SIZE, 1, DIM), dtype=torch.bfloat16, device="cuda")
        self.arguments = {
            "caches": {"key": graphsan.Cache(self.cache, sinks=[(0, PAGE_SIZE)])},
            "slot_mapping": [[(i + 1) * PAGE_SIZE + n for i in range(k)] for n, k in enumerate(counts)],
            "inputs": {"rows": [torch.randn(k, DIM).to(torch.bfloat16) for k in counts]},
            "bucket": BUCKET,
        }

    def write(self, rows, slots):
        flat = self.cache.view(-1, DIM)
        safe = slots.clamp(min=0)
        flat[safe] = torch.where((slots >= 0).unsqueeze(1), rows, flat[safe])

    def check(self, step, **options):
        return graphsan.check(step, **{**self.arguments, **options})


def expect(report, verdict, *mechanisms, source=False):
    """Raises AssertionError unless the report is that one, numeric noise aside."""
    found = {f.mechanism for f in report.findings} - {"numeric-noise"}
    assert report.verdict == verdict and report.device == "cuda", report.explain()
    assert found == set(mechanisms), report.explain()
    if source:
        places = [place.source for f in report.findings for place in f.where]
        assert any(place and HERE in place for place in places), f"no Python line: {places}"


def sound():
    scene = Scene()
    report = scene.check(lambda rows, slot_mapping: scene.write(rows, slot_mapping))
    expect(report, "agreed")
    assert report.rows_compared == TOKENS * STEPS and report.replays == STEPS, str(report)
    return report


def outputs_and_temporaries():
    scene = Scene()
    weight = torch.randn(DIM, DIM, device="cuda").to(torch.bfloat16)

    def step(rows, slot_mapping):
        keys = torch.relu(rows @ weight) + rows
        scene.write(keys, slot_mapping)
        return {"keys": keys, "norm": keys.float().norm(dim=1)}

    report = scene.check(step)
    expect(report, "agreed")
    return report


def padding_write():
    scene = Scene()

    def step(rows, slot_mapping):
        scene.cache.view(-1, DIM)[slot_mapping] = rows

    report = scene.check(step)
    expect(report, "diverged", "padding-write", source=True)
    assert report.findings[0].where[0].rows == ((PAGES - 1, PAGE_SIZE - 1),), report.explain()
    return report


def elided_write():
    scene = Scene()

    def step(ctx, rows, slot_mapping):
        if ctx.metadata is not None:
            scene.write(rows, ctx.metadata.slot_mapping)
        return rows * 2

    report = scene.check(step, capture_metadata="none")
    expect(report, "diverged", "elided-write", source=True)
    assert report.findings[0].status == "confirmed", report.explain()
    expect(scene.check(step, capture_metadata="dummy"), "agreed")
    return report


def frozen_scalar():
    scene = Scene()

    def step(rows, slot_mapping, scale):
        scene.write(rows * scale, slot_mapping)

    inputs = {**scene.arguments["inputs"], "scale": [1.0, 2.0, 3.0, 4.0]}
    report = scene.check(step, inputs=inputs)
    expect(report, "diverged", "frozen-scalar", source=True)
    return report


def moved_buffer():
    scene = Scene()
    kept = []

    def prepare(ctx, rows, slot_mapping):
        padded = torch.full((ctx.lanes,), -1, dtype=torch.int64, device="cuda")
        padded[: len(slot_mapping)] = slot_mapping
        values = torch.ones((ctx.lanes, DIM), dtype=torch.bfloat16, device="cuda")
        values[: len(rows)] = rows
        kept.append((padded, values))
        return {"rows": values, "slot_mapping": padded}

    report = scene.check(lambda rows, slot_mapping: scene.write(rows, slot_mapping), prepare=prepare)
    expect(report, "diverged", "moved-buffer")
    return report


def eager_break():
    scene = Scene()

    def step(ctx, rows, slot_mapping):
        doubled = rows * 2

        def insert():
            if ctx.metadata is not None:
                scene.write(doubled, slot_mapping)

        ctx.eager_break(insert)
        return doubled + 1

    report = scene.check(step, capture_metadata="none")
    expect(report, "agreed")
    return report


def own_capture():
    scene = Scene()

    def capture(ctx, run):
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            run()
        graph.instantiate()
        return graph

    report = scene.check(lambda rows, slot_mapping: scene.write(rows, slot_mapping), capture=capture)
    expect(report, "agreed")
    return report


def opaque_state():
    scene = Scene()
    counter = torch.ones(1, dtype=torch.bfloat16, device="cuda")

    def step(rows, slot_mapping):
        scene.write(rows + counter, slot_mapping)
        counter.add_(1)

    report = scene.check(step, opaque={"counter": counter})
    expect(report, "agreed")
    return report


def gemm_of_another_shape():
    """A bucket of 64 lanes takes another kernel of the library than 3 rows do."""
    depth = 4096
    scene = Scene()
    weight = torch.randn(depth, DIM, device="cuda").to(torch.bfloat16)
    hidden = [torch.randn(TOKENS, depth).to(torch.bfloat16) for _ in range(STEPS)]

    def step(hidden, slot_mapping):
        scene.write(hidden @ weight, slot_mapping)

    report = scene.check(step, inputs={"hidden": hidden}, bucket=64)
    expect(report, "agreed")

    def wrapped(hidden, slot_mapping):
        scene.cache.view(-1, DIM)[slot_mapping] = hidden @ weight

    expect(scene.check(wrapped, inputs={"hidden": hidden}, bucket=64), "diverged", "padding-write")
    return report


def atomics():
    """Sums of 65,536 terms by float atomics round otherwise in each run, in eager too."""
    scene = Scene()
    terms = torch.randn(1 << 16, DIM, device="cuda") * 100
    rows_of_terms = torch.arange(1 << 16, device="cuda") % TOKENS

    def summed(rows):
        sums = torch.zeros(rows.shape, dtype=torch.float32, device="cuda")
        sums.index_add_(0, rows_of_terms, terms)
        return rows + (sums * 1000).frac().to(torch.bfloat16)

    report = scene.check(lambda rows, slot_mapping: scene.write(summed(rows), slot_mapping))
    assert report.verdict == "inconclusive", report.explain()
    assert {f.mechanism for f in report.findings} == {"unstable-eager"}, report.explain()

    def wrapped(rows, slot_mapping):
        scene.cache.view(-1, DIM)[slot_mapping] = summed(rows)

    stray = scene.check(wrapped)
    assert stray.verdict == "diverged", stray.explain()
    assert "padding-write" in {f.mechanism for f in stray.findings}, stray.explain()
    return stray


def exception():
    scene = Scene()

    def step(ctx, rows, slot_mapping):
        if ctx.step == 1:
            raise ValueError("the scheduler lost sequence 2")
        scene.write(rows, slot_mapping)

    report = scene.check(step)
    assert report.exit_code == 4 and report.failure.step == 1, report.explain()
    assert "the scheduler lost sequence 2" in report.failure.what and HERE in report.failure.what
    return report


def module_with_state():
    scene = Scene()

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = torch.zeros(1, device="cuda")

        def forward(self, rows, slot_mapping):
            self.calls += 1
            scene.write(rows + self.calls.to(rows.dtype), slot_mapping)

    layer = Layer()
    layer.calls += 5
    report = scene.check(layer, opaque={"key": layer.calls})  # of the cache's name
    expect(report, "agreed")
    assert layer.calls.item() >= 5, layer.calls
    return report


def synchronize_in_a_capture():
    scene = Scene()

    def step(rows, slot_mapping):
        if slot_mapping.max().item() >= -1:
            scene.write(rows, slot_mapping)

    report = scene.check(step)
    assert report.exit_code == 4 and report.failure, report.explain()
    after = sound()  # a refused capture leaves the process usable
    return after


CASES = [
    sound,
    outputs_and_temporaries,
    padding_write,
    elided_write,
    frozen_scalar,
    moved_buffer,
    eager_break,
    own_capture,
    opaque_state,
    gemm_of_another_shape,
    atomics,
    exception,
    module_with_state,
    synchronize_in_a_capture,
]


def main(names):
    problem = graphsan.device_problem("cuda")
    if problem:
        print(f"gpu_cases: {problem}", file=sys.stderr)
        return 77
    failed = 0
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, graphsan {graphsan.version()}")
    for case in CASES:
        if names and case.__name__ not in names:
            continue
        start = time.perf_counter()
        try:
            said = repr(case())
            result = "passed"
        except Exception as error:
            said, result = f"{type(error).__name__}: {error}", "FAILED"
            failed += 1
        print(f"{case.__name__:26} {result} {time.perf_counter() - start:5.1f} s  {said}", flush=True)
    print(f"SUMMARY: gpu_cases: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
