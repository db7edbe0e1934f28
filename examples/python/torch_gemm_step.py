"""A sound step with a real GEMM in front: hidden states are projected and stored as keys.

usage: torch_gemm_step.py [--device cuda|host]

The eager arm multiplies 3 rows, the graph 4: where the library picks another kernel for the padded
size, last bits differ, and the finding is `numeric-noise`, which leaves the verdict agreed.
"""

import argparse
import sys

import torch

import graphsan

PAGES, PAGE_SIZE, HEADS, DIM, HIDDEN, TOKENS, STEPS = 5, 16, 4, 128, 4096, 3, 4


def project(hidden, weight, out):
    torch.mm(hidden, weight, out=out)


def insert(cache, keys, slots):
    """Rows of pad lanes go to page 0, the null page, as they are there."""
    rows = cache.view(-1, HEADS * DIM)
    safe = slots.clamp(min=0)
    rows[safe] = torch.where((slots >= 0).unsqueeze(1), keys, rows[safe])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=["cuda", "host"])
    device = parser.parse_args().device or ("cuda" if torch.cuda.is_available() else "host")
    problem = graphsan.device_problem(device)
    if problem:
        print(f"torch_gemm_step: {problem}", file=sys.stderr)
        return 77
    where = "cpu" if device == "host" else device
    torch.manual_seed(1)
    cache = torch.zeros((PAGES, PAGE_SIZE, HEADS, DIM), dtype=torch.bfloat16, device=where)
    weight = (torch.randn(HIDDEN, HEADS * DIM) / HIDDEN**0.5).to(where, torch.bfloat16)

    def step(ctx, hidden, slot_mapping):
        keys = torch.empty((hidden.shape[0], HEADS * DIM), dtype=hidden.dtype, device=hidden.device)
        ctx.launch(project, hidden, weight, keys)
        ctx.launch(insert, cache, keys, slot_mapping)
        return {"keys": keys}

    report = graphsan.check(
        step,
        caches={"key": graphsan.Cache(cache, sinks=[(0, PAGE_SIZE)])},
        slot_mapping=[[(i + 1) * PAGE_SIZE + n for i in range(TOKENS)] for n in range(STEPS)],
        inputs={"hidden": [torch.randn(TOKENS, HIDDEN).to(torch.bfloat16) for _ in range(STEPS)]},
    )
    print(report)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
