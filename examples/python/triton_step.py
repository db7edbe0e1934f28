"""A Triton kernel that writes a paged cache.

usage: triton_step.py [frozen|wrapped]     without a word the kernel is sound

frozen: the number of live tokens is a Python int; a captured launch keeps the one of the capture.
wrapped: the kernel takes a slot of -1 as the last row, as an index in Python does.
Needs a GPU, torch and Triton; exit code 77 where there is none.
"""

import sys

import torch

import graphsan

PAGES, PAGE_SIZE, DIM, BUCKET = 5, 16, 128, 4
COUNTS = [2, 3, 3, 2]  # tokens of each step


def main():
    fault = sys.argv[1] if len(sys.argv) > 1 else "none"
    if fault not in ("none", "frozen", "wrapped"):
        print(__doc__, file=sys.stderr)
        return 2
    problem = graphsan.device_problem("cuda")
    if problem:
        print(f"triton_step: {problem}", file=sys.stderr)
        return 77
    import kernels_triton

    torch.manual_seed(2)
    cache = torch.zeros((PAGES, PAGE_SIZE, 1, DIM), dtype=torch.bfloat16, device="cuda")

    def step(ctx, rows, slot_mapping, count):
        live = count if fault == "frozen" else rows.shape[0]
        skip = fault != "wrapped"
        grid = (rows.shape[0],)
        kernels_triton.insert[grid](
            cache, rows, slot_mapping, live, SKIP=skip, ROWS=PAGES * PAGE_SIZE, DIM=DIM
        )

    report = graphsan.check(
        step,
        caches={"key": cache},
        slot_mapping=[[i * PAGE_SIZE + n for i in range(count)] for n, count in enumerate(COUNTS)],
        inputs={
            "rows": [torch.randn(count, DIM).to(torch.bfloat16) for count in COUNTS],
            "count": COUNTS,
        },
        bucket=BUCKET,
        device="cuda",
    )
    print(report)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
