"""check() on steps of real engines: sums that round otherwise, atomics, sinks, caches far larger than a batch."""

import numpy as np
from scene import DIM, PAGE_SIZE, TOKENS

import graphsan


def flat(cache):
    return cache.reshape(-1, cache.shape[-1])


def project(cache, rows, weight, slots):
    """A GEMM that splits its reduction by the size of the batch, as vendors' libraries choose to."""
    splits = 1 if len(rows) == TOKENS else 4
    parts = [
        (rows[:, at::splits, None] * weight[at::splits]).sum(axis=1, dtype=np.float32)
        for at in range(splits)
    ]
    live = slots >= 0
    flat(cache)[slots[live]] = sum(parts)[live]


def projected(scene, body=project):
    weight = np.random.default_rng(5).standard_normal((DIM, DIM)).astype(np.float32)

    def step(ctx, rows, slot_mapping):
        ctx.launch(body, scene.cache, rows, weight, slot_mapping)

    return step


def test_a_sum_that_rounds_otherwise_when_padded_is_noise_and_no_fault(scene):
    report = graphsan.check(projected(scene), **scene.arguments)
    assert report.verdict == "agreed", report
    assert [f.mechanism for f in report.findings] == ["numeric-noise"]


def test_an_output_that_rounds_otherwise_is_noise_too(scene):
    weight = np.random.default_rng(6).standard_normal((DIM, DIM)).astype(np.float32)

    def multiply(out, rows):
        splits = 1 if len(rows) == TOKENS else 4
        out[...] = sum(
            (rows[:, at::splits, None] * weight[at::splits]).sum(axis=1, dtype=np.float32)
            for at in range(splits)
        )

    def step(ctx, rows, slot_mapping):
        scene.step(ctx, rows, slot_mapping)
        out = np.empty_like(rows)
        ctx.launch(multiply, out, rows)
        return {"hidden": out}

    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert [f.mechanism for f in report.findings] == ["numeric-noise"]


def test_a_fault_behind_noise_is_found(scene):
    def wrapped(cache, rows, weight, slots):
        project(cache, rows, weight, slots)
        flat(cache)[slots[slots < 0]] = 1

    report = graphsan.check(projected(scene, wrapped), **scene.arguments)
    assert report.verdict == "diverged"
    assert "padding-write" in [f.mechanism for f in report.findings]


def noisy(rows, slots, cache, wrap):
    """Sums in another order each time, as float atomics do."""
    order = noisy.generator.permutation(DIM)
    sums = np.float32(0)
    for at in order:
        sums = sums + rows[:, at : at + 1]
    live = np.ones(len(slots), bool) if wrap else slots >= 0
    flat(cache)[slots[live]] = (rows + sums)[live]


def noisy_step(scene, wrap):
    noisy.generator = np.random.default_rng(3)

    def step(ctx, rows, slot_mapping):
        ctx.launch(noisy, rows, slot_mapping, scene.cache, wrap)

    return step


def test_no_value_of_an_eager_with_atomics_is_blamed_on_the_graph(scene):
    report = graphsan.check(noisy_step(scene, False), **scene.arguments)
    assert report.verdict == "inconclusive"
    assert "eager does not agree with itself" in report.reason
    assert [f.mechanism for f in report.findings] == ["unstable-eager"]


def test_a_stray_row_beside_atomics_is_found_all_the_same(scene):
    report = graphsan.check(noisy_step(scene, True), **scene.arguments)
    assert report.verdict == "diverged"
    assert "padding-write" in [f.mechanism for f in report.findings]


def test_a_sink_takes_what_pad_lanes_write(scene):
    last = len(flat(scene.cache)) - 1

    def wrapped(cache, rows, slots):
        flat(cache)[slots] = rows

    def step(ctx, rows, slot_mapping):
        ctx.launch(wrapped, scene.cache, rows, slot_mapping)

    scene.arguments["caches"] = {"key": graphsan.Cache(scene.cache, sinks=[last])}
    assert graphsan.check(step, **scene.arguments).verdict == "agreed"


def test_a_cache_may_be_far_larger_than_what_a_batch_touches(scene):
    cache = np.zeros((65_536, PAGE_SIZE, 1, DIM), np.float32)

    def write(cache, rows, slots):
        live = slots >= 0
        flat(cache)[slots[live]] = rows[live]

    def step(ctx, rows, slot_mapping):
        ctx.launch(write, cache, rows, slot_mapping)

    scene.arguments["caches"] = {"key": cache}
    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert report.rows_compared == 12
