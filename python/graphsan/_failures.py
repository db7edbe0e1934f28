"""What ends a check early, or is only noted: exceptions of the caller's code, and Ctrl-C."""

from __future__ import annotations

import traceback
from typing import Any, Callable, Optional

from . import _abi, _frames
from ._interrupt import Interrupt


class GraphSanError(RuntimeError):
    """The tool or the device failed before there was a report."""


class NoDeviceError(GraphSanError):
    """CUDA was asked for and cannot be used."""


class StepFailure(RuntimeError):
    """GraphSan refused what the step asked for; the report says why in the device's own words."""


class Failures:
    """Guards what the library calls. Nothing may leave a callback from C: ctypes prints it and hands the
    library garbage."""

    def __init__(self) -> None:
        self.exception: Optional[BaseException] = None
        self.stop: Optional[BaseException] = None  # such as KeyboardInterrupt: raised by the check
        self.interrupt = Interrupt()
        self.notes: list[str] = []
        self.step: Optional[int] = None  # that was prepared last
        # Experiments plant wrong values on purpose, and a kernel may trap on those.
        self.in_experiment = False
        self._kernel_failure: Optional[str] = None
        self._host: Any = None

    def attach(self, host: Any) -> None:
        self._host = host

    def note(self, text: str) -> None:
        if text not in self.notes and len(self.notes) < 8:
            self.notes.append(text)

    def guarded(self, body: Callable[[], Any]) -> int:
        """Runs what the library called; an exception becomes the failure of the call."""
        try:
            if self.interrupt.seen:
                raise KeyboardInterrupt
            if self._kernel_failure is not None:
                failure, self._kernel_failure = self._kernel_failure, None
                self._fail(failure)
                return 1
            body()
            return 0
        except BaseException as error:
            try:
                self._fail(self._keep(error))
            except BaseException as second:  # Ctrl-C again, or an exception that cannot be told
                self.stop = self.stop or (None if isinstance(second, Exception) else second)
            return 1

    def operation(self, body: Callable[[int], Any]) -> Any:
        """The ABI's op, which is given the stream."""
        return _abi.OP(lambda _argument, stream: self.guarded(lambda: body(stream or 0)))

    def kernel_failed(self, kernel: str, error: BaseException) -> None:
        """A kernel cannot return an error: it is told at the library's next call."""
        try:
            self._keep_kernels(kernel, error)
        except BaseException as second:
            self._kernel_failure = self._kernel_failure or f"a launched function raised {type(error)}"
            self.stop = self.stop or (None if isinstance(second, Exception) else second)

    def _fail(self, why: str) -> None:
        if self._host is not None:
            self._host.contents.fail(self._host, _abi.encoded(why))

    def _keep(self, error: BaseException) -> str:
        if not isinstance(error, Exception):
            self.stop = error
        if self.exception is None or not isinstance(error, StepFailure):
            self.exception = error
        text = _frames.in_one_line(error)
        _frames.keep_callers_frames(error)
        return text

    def _keep_kernels(self, kernel: str, error: BaseException) -> None:
        where = "" if self.step is None else f" of step {self.step}"
        text = f"the launched function {kernel}{where} raised {_frames.in_one_line(error)}"
        if not isinstance(error, Exception):
            self.stop = error  # it ends the check wherever it is raised
        elif self.in_experiment:
            self.note(f"in an experiment, {text}; it wrote nothing further")
            return
        if self._kernel_failure is None:
            self._keep(error)
            self._kernel_failure = text
            # Its locals are views of device memory, which is gone when somebody looks at them.
            traceback.clear_frames(error.__traceback__)
