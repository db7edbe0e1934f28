"""The smallest complete check: rows of one to three tokens go into a paged cache, padded to four lanes.

usage: numpy_paged_write.py [wrap|frozen|elide]      without a word the write is sound

NumPy and no GPU: `ctx.launch` gives work to the host device, which captures and replays it by CUDA's
rules. What a step does outside of ctx.launch is Python: it runs at capture, and at no replay.
"""

import sys

import numpy as np

import graphsan

PAGES, PAGE_SIZE, DIM = 4, 16, 16
fault = sys.argv[1] if len(sys.argv) > 1 else "none"
cache = np.zeros((PAGES, PAGE_SIZE, 1, DIM), np.float32)
checksum = np.zeros(4, np.float32)


def write_rows(cache, rows, slots):
    live = slots >= 0  # the cure: a slot of -1 names no row
    cache.reshape(-1, DIM)[slots[live]] = rows[live]


def write_rows_wrapping(cache, rows, slots):
    cache.reshape(-1, DIM)[slots] = rows  # -1 is the last row


def write_first_rows(cache, rows, slots, count):
    write_rows(cache, rows[:count], slots[:count])


def sum_rows(checksum, rows):
    checksum[: len(rows)] = rows.sum(axis=1)


def step(ctx, rows, slot_mapping, count):
    if fault == "wrap":
        ctx.launch(write_rows_wrapping, cache, rows, slot_mapping)
    elif fault == "frozen":  # the number goes by value: a graph keeps the one of the capture
        ctx.launch(write_first_rows, cache, rows, slot_mapping, count)
    elif fault != "elide" or ctx.metadata is not None:  # no metadata at capture: nothing is recorded
        ctx.launch(write_rows, cache, rows, slot_mapping)
    ctx.launch(sum_rows, checksum, rows)


counts = [1, 2, 3, 3]  # tokens of each step
slots = [[i * PAGE_SIZE + n for i in range(count)] for n, count in enumerate(counts)]
rng = np.random.default_rng(1)
report = graphsan.check(
    step,
    caches={"key": cache},
    slot_mapping=slots,
    inputs={"rows": [rng.normal(size=(n, DIM)).astype(np.float32) for n in counts], "count": counts},
    outputs={"checksum": graphsan.Output(checksum)},
    bucket=4,
    capture_metadata="none",
)
print(report)
report.to_html("numpy_paged_write.html")
sys.exit(report.exit_code)
