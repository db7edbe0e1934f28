"""Which line of the caller's is at work."""

from __future__ import annotations

import os
import sys
import traceback
from types import FrameType, TracebackType
from typing import Optional


def _absolute(file: str) -> str:
    """As it is where the working directory is gone."""
    try:
        return os.path.abspath(file)
    except OSError:
        return file


_OWN = os.path.dirname(_absolute(__file__)) + os.sep


def _framework_folders() -> tuple[str, ...]:
    folders = [_OWN]
    for name in ("torch", "triton", "numpy"):
        path = getattr(sys.modules.get(name), "__file__", None)
        if path:
            folders.append(os.path.dirname(_absolute(path)) + os.sep)
    return tuple(folders)


def is_framework(file: str) -> bool:
    """Whether code is this package's, or of what it is used with."""
    return _absolute(file).startswith(_framework_folders())


def _is_generated(file: str) -> bool:
    """Code that no file holds and nobody typed; "<stdin>" and a notebook's cells were typed."""
    return file.startswith(("<frozen", "<string>", "<__array_function__"))


def _place(file: str, line: int) -> str:
    if file.startswith("<"):
        return f"{file}:{line}"
    absolute = _absolute(file)
    try:
        here = os.getcwd() + os.sep
    except OSError:
        return f"{absolute}:{line}"
    return f"{absolute[len(here) :] if absolute.startswith(here) else absolute}:{line}"


def caller_line() -> str:
    """file:line of the innermost frame that is neither this package's nor a framework's; a path below
    the working directory is relative to it. Empty where there is none."""
    folders = _framework_folders()
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_generated(file) and not _absolute(file).startswith(folders):
            return _place(file, frame.f_lineno)
        frame = frame.f_back
    return ""


def keep_callers_frames(error: BaseException) -> None:
    """Drops this package's frames from the top of a traceback."""
    step = error.__traceback__
    while step is not None and _absolute(step.tb_frame.f_code.co_filename).startswith(_OWN):
        step = step.tb_next
    if step is not None:
        error.__traceback__ = step


def in_one_line(error: BaseException) -> str:
    """The last line of an exception's traceback, and the caller's line that it came from."""
    text = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
    last = text[-1] if text else type(error).__name__
    folders = _framework_folders()
    place = ""
    step: Optional[TracebackType] = error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if not _absolute(file).startswith(folders):
            place = f" ({_place(file, step.tb_lineno)} in {step.tb_frame.f_code.co_name})"
        step = step.tb_next
    return last + place
