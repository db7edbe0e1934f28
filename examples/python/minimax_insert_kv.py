"""The two bodies of `_insert_kv` that the project began with, in every way that an engine captures them.

usage: minimax_insert_kv.py [--device cuda|host] [--html DIR]

A decode step: a projection gives k, v and index-k of each token, `_insert_kv` stores them (K and V as
fp8_e5m2 bytes by a write that skips slots below 0, index-K as bf16 by index_put), and attention reads
the rows back. Body A takes the slots from the attention metadata and returns silently where there is none;
body B takes them as an argument. An engine that captures piecewise leaves attention out of the graph and
has no metadata at capture; one that captures fully has a dummy batch.

Each cell of the matrix is one check; the last column says whether mechanism, rows and line are what the
code as read predicts.
The exit code is 1 where one is not. On the host device (CPU tensors) the same ops are launched functions.
"""

import argparse
import pathlib
import sys

import torch

import graphsan

FILE = pathlib.Path(__file__).name
PAGES, PAGE_SIZE, HEADS, DIM, HIDDEN, BUCKET, STEPS = 6, 16, 1, 128, 256, 4, 4


def project(hidden, weight, out):
    torch.mm(hidden, weight, out=out)


def reshape_and_cache(cache, x, slots):
    """Stores fp8 rows, and skips slots below 0: those lanes write the null page's row 0 back as it is."""
    rows = cache.view(-1, HEADS * DIM)
    safe = slots.clamp(min=0)
    stored = x.to(torch.float8_e5m2).view(torch.uint8)
    rows[safe] = torch.where((slots >= 0).unsqueeze(1), stored, rows[safe])


def index_put(index_cache, x, slots):
    index_cache.view(-1, DIM)[slots] = x  # -1 is the last row


def attend(out, key_cache, value_cache, index_cache, slots):
    """A stand-in that reads the row of each lane from all three caches."""
    safe = slots.clamp(min=0)
    total = index_cache.view(-1, DIM)[safe].float().sum(1)
    for cache in (key_cache, value_cache):
        total += cache.view(-1, HEADS * DIM)[safe].view(torch.float8_e5m2).float().sum(1)
    out.copy_(total.unsqueeze(1))


class Layer:
    """One layer with its caches. Page 0 is the null page."""

    def __init__(self, device, body, piecewise):
        torch.manual_seed(3)
        shape = (PAGES, PAGE_SIZE, HEADS, DIM)
        self.key_cache = torch.zeros(shape, dtype=torch.uint8, device=device)
        self.value_cache = torch.zeros(shape, dtype=torch.uint8, device=device)
        self.index_cache = torch.zeros((PAGES, PAGE_SIZE, DIM), dtype=torch.bfloat16, device=device)
        self.weight = (torch.randn(HIDDEN, 3 * DIM) / HIDDEN**0.5).to(device, torch.bfloat16)
        self._insert_kv = self._insert_kv_a if body == "A" else self._insert_kv_b
        self._piecewise = piecewise

    def _insert_kv_a(self, ctx, k, v, index_k, slots):
        metadata = ctx.metadata
        if metadata is None:  # a profiling run, it is thought
            return
        ctx.launch(reshape_and_cache, self.key_cache, k, metadata.slot_mapping)
        ctx.launch(reshape_and_cache, self.value_cache, v, metadata.slot_mapping)
        ctx.launch(index_put, self.index_cache, index_k, metadata.slot_mapping)

    def _insert_kv_b(self, ctx, k, v, index_k, slots):
        ctx.launch(reshape_and_cache, self.key_cache, k, slots)
        ctx.launch(reshape_and_cache, self.value_cache, v, slots)
        ctx.launch(index_put, self.index_cache, index_k, slots)

    def forward(self, ctx, hidden, slot_mapping):
        qkv = torch.empty((hidden.shape[0], 3 * DIM), dtype=hidden.dtype, device=hidden.device)
        ctx.launch(project, hidden, self.weight, qkv)
        k, v, index_k = qkv.split(DIM, dim=1)
        self._insert_kv(ctx, k, v, index_k, slot_mapping)
        out = torch.empty((hidden.shape[0], 1), device=hidden.device)

        def attention():
            ctx.launch(attend, out, self.key_cache, self.value_cache, self.index_cache, slot_mapping)

        if self._piecewise:
            ctx.eager_break(attention)
        else:
            attention()
        return out


def check(device, body, piecewise, tokens):
    layer = Layer(device, body, piecewise)
    torch.manual_seed(4)
    return graphsan.check(
        layer.forward,
        caches={
            "key": graphsan.Cache(layer.key_cache, "key", dtype="fp8_e5m2", sinks=[(0, PAGE_SIZE)]),
            "value": graphsan.Cache(layer.value_cache, "value", dtype="fp8_e5m2", sinks=[(0, PAGE_SIZE)]),
            "index-key": graphsan.Cache(layer.index_cache, "index-key"),
        },
        # Sequence i grows in page i + 1.
        slot_mapping=[[(i + 1) * PAGE_SIZE + step for i in range(tokens)] for step in range(STEPS)],
        inputs={"hidden": [torch.randn(tokens, HIDDEN).to(torch.bfloat16) for _ in range(STEPS)]},
        bucket=BUCKET,
        capture_metadata="none" if piecewise else "dummy",
        name=f"_insert_kv {body}, {'piecewise' if piecewise else 'full'}, {tokens}/{BUCKET}",
    )


def predicted(body, piecewise, tokens):
    """Mechanism and the (page, slot) that it hits in each cache, by the code as read."""
    if body == "A" and piecewise:
        rows = {(i + 1, step) for i in range(tokens) for step in range(STEPS)}
        return "elided-write", {"key": rows, "value": rows, "index-key": rows}
    if tokens < BUCKET:
        return "padding-write", {"index-key": {(PAGES - 1, PAGE_SIZE - 1)}}
    return None, {}


def rows_of(findings):
    """The (page, slot) of each cache that findings name."""
    rows = {}
    for place in (place for finding in findings for place in finding.where):
        if place.cache != "output":
            rows.setdefault(place.cache, set()).update(place.rows)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=["cuda", "host"])
    parser.add_argument("--html", metavar="DIR", type=pathlib.Path)
    options = parser.parse_args()
    device = options.device or ("cuda" if torch.cuda.is_available() else "host")
    problem = graphsan.device_problem(device)
    if problem:
        print(f"minimax_insert_kv: {problem}", file=sys.stderr)
        return 77
    print(f"{'body':4} {'capture':9} {'batch':5} {'verdict':12} {'finding':42} {'rows':>4} line")
    wrong = 0
    for body in "AB":
        for piecewise in (True, False):
            for tokens in (BUCKET, BUCKET - 1):
                report = check("cpu" if device == "host" else device, body, piecewise, tokens)
                causes = [f for f in report.findings if f.mechanism != "numeric-noise"]
                mechanism, rows = predicted(body, piecewise, tokens)
                found = rows_of(causes)
                names = {f.mechanism for f in causes}
                line = next((pathlib.Path(f.source).name for f in causes if f.source), "-")
                good = names == ({mechanism} if mechanism else set()) and found == rows
                good = good and report.verdict == ("diverged" if mechanism else "agreed")
                good = good and (line.startswith(f"{FILE}:") if mechanism else line == "-")
                wrong += not good
                said = ", ".join(f"{f.mechanism} ({f.status})" for f in causes) or "-"
                said += ": " + ", ".join(sorted(found)) if found else ""
                print(
                    f"{body:4} {'piecewise' if piecewise else 'full':9} {tokens}/{BUCKET:<3} "
                    f"{report.verdict:12} {said:42} {sum(map(len, found.values())):4} {line:48} "
                    f"{'as predicted' if good else 'NOT AS PREDICTED: ' + report.reason}"
                )
                if options.html:
                    options.html.mkdir(parents=True, exist_ok=True)
                    mode = "piecewise" if piecewise else "full"
                    report.to_html(options.html / f"{body}-{mode}-{tokens}.html")
    print(f"SUMMARY: minimax_insert_kv: {8 - wrong} of 8 cells as predicted ({device} device)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
