"""A Triton kernel that writes a paged cache.

usage: triton_step.py [frozen|unmasked]     without a word the kernel is sound

frozen: the number of live tokens is a Python int; a captured launch keeps the one of the capture.
unmasked: the kernel does not skip slots below 0, and writes one row before the cache.
Needs a GPU, torch and Triton; exit code 77 where there is none.
"""

import sys

import torch

import graphsan

PAGES, PAGE_SIZE, DIM, BUCKET = 5, 16, 128, 4
COUNTS = [2, 3, 3, 2]  # tokens of each step


def main():
    fault = sys.argv[1] if len(sys.argv) > 1 else "none"
    if fault not in ("none", "frozen", "unmasked"):
        print(__doc__, file=sys.stderr)
        return 2
    problem = graphsan.device_problem("cuda")
    if problem:
        print(f"triton_step: {problem}", file=sys.stderr)
        return 77
    import kernels_triton

    torch.manual_seed(2)
    # A page of one's own before the cache: where an unmasked slot of -1 writes.
    memory = torch.zeros((PAGES + 1, PAGE_SIZE, 1, DIM), dtype=torch.bfloat16, device="cuda")
    before, cache = memory[:1], memory[1:]

    def step(ctx, rows, slot_mapping, count):
        live = count if fault == "frozen" else rows.shape[0]
        skip = fault != "unmasked"
        kernels_triton.insert[(rows.shape[0],)](cache, rows, slot_mapping, live, SKIP=skip, DIM=DIM)

    report = graphsan.check(
        step,
        caches={"key": cache, "before": graphsan.Cache(before, kind="other")},
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
