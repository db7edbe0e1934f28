"""A small paged write: three tokens a step, sequence i grows in page i, padded to four lanes."""

import numpy as np

PAGES, PAGE_SIZE, DIM, TOKENS, STEPS = 4, 16, 16, 3, 4


def write_rows(cache, rows, slots):
    for row, slot in zip(rows, slots):
        if slot >= 0:
            cache[slot // PAGE_SIZE, slot % PAGE_SIZE, 0] = row


def wrap_rows(cache, rows, slots):
    """As index_put does: a slot of -1 is the last row."""
    cache.reshape(-1, DIM)[slots] = rows


def sum_rows(sums, cache, slots):
    for lane, slot in enumerate(slots):
        sums[lane] = cache[slot // PAGE_SIZE, slot % PAGE_SIZE].sum() if slot >= 0 else 0


class Scene:
    """The arguments of a check, made anew for each test."""

    def __init__(self):
        rng = np.random.default_rng(7)
        self.cache = np.zeros((PAGES, PAGE_SIZE, 1, DIM), np.float32)
        self.slots = [[i * PAGE_SIZE + step for i in range(TOKENS)] for step in range(STEPS)]
        self.rows = [rng.standard_normal((TOKENS, DIM)).astype(np.float32) for _ in range(STEPS)]
        self.arguments = {
            "caches": {"key": self.cache},
            "slot_mapping": self.slots,
            "inputs": {"rows": self.rows},
        }

    def step(self, ctx, rows, slot_mapping):
        ctx.launch(write_rows, self.cache, rows, slot_mapping)


def line_of(function, text):
    """Number of the line of a function's source that holds `text`."""
    lines = function.__code__.co_firstlineno
    with open(function.__code__.co_filename) as file:
        for number, line in enumerate(file, 1):
            if number >= lines and text in line:
                return number
    raise AssertionError(text)


def mechanisms(report):
    return [(f.mechanism, f.status) for f in report.findings]
