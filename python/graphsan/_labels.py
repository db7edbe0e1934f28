"""What work is called in a report: the caller's own words, or the line that it comes from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Optional

from . import _frames


class Labels:
    """`own`: the caller's words, until the next call of the step."""

    def __init__(self, source_lines: bool):
        self.source_lines = source_lines
        self.own: Optional[str] = None

    def current(self) -> Optional[str]:
        """What to call work that is issued now; None where nobody wants to know."""
        if self.own is not None or not self.source_lines:
            return self.own
        return _frames.caller_line()

    @contextlib.contextmanager
    def output(self) -> Iterator[None]:
        """For the copy of a step's output, which no line of the caller's makes."""
        before, self.own = self.own, "graphsan: output"
        try:
            yield
        finally:
            self.own = before
