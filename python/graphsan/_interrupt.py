"""Ctrl-C while the library runs."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class Interrupt:
    """Keeps a SIGINT for the check to end by.

    Python raises KeyboardInterrupt at the next bytecode, which after a long time in C is the first of a
    callback, before any `try`: ctypes ignores it there and returns garbage to the library.
    """

    def __init__(self) -> None:
        self.seen = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Sets `seen` at the first SIGINT; a second one is raised where it lands. Does nothing outside the
        main thread, and where the program has a handler of its own."""
        main = threading.current_thread() is threading.main_thread()
        if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, _number: int, _frame: Any) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True
