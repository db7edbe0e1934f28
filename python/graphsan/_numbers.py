"""Whole numbers for the ABI, which has 32 or 64 bits for them: ctypes drops the rest without a word."""

from __future__ import annotations

import operator
from typing import Any

INT32 = 2**31 - 1
INT64 = 2**63 - 1


def whole(what: str, value: Any, low: int, high: int) -> int:
    """Raises TypeError for what is no whole number, ValueError for one outside of `low` to `high`."""
    try:
        made = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r}; give a whole number") from None
    if not low <= made <= high:
        raise ValueError(f"{what} is {made}; it can be {low} to {high}")
    return made
