"""The kernel of triton_step.py."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["live"])
def insert(cache, rows, slots, live, SKIP: tl.constexpr, ROWS: tl.constexpr, DIM: tl.constexpr):
    lane = tl.program_id(0)
    slot = tl.load(slots + lane)
    write = lane < live
    if SKIP:
        write = write & (slot >= 0)
    else:
        slot = tl.where(slot < 0, slot + ROWS, slot)
    column = tl.arange(0, DIM)
    row = tl.load(rows + lane * DIM + column)
    tl.store(cache + slot * DIM + column, row, mask=write)
