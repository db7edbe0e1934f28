"""GraphSan: a sanitizer for CUDA graphs.

`check()` runs a step eagerly and as a CUDA graph, compares every row of its paged caches, and names the
mechanism behind a difference. Without a GPU, NumPy steps run on the host device, which follows CUDA's
rules of capture and replay.
"""

from __future__ import annotations

from typing import Any

from ._batches import Batch
from ._check import assert_graph_safe, check, device_problem
from ._context import Context, Metadata
from ._declarations import Cache, Output
from ._failures import GraphSanError, NoDeviceError
from ._report import Failure, Finding, Report, RuledOut, Where

__all__ = [
    "Batch",
    "Cache",
    "Context",
    "Failure",
    "Finding",
    "GraphSanError",
    "Metadata",
    "NoDeviceError",
    "Output",
    "Report",
    "RuledOut",
    "Segment",
    "Where",
    "assert_graph_safe",
    "check",
    "device_problem",
    "version",
]


def version() -> str:
    """The release of the library in use."""
    from . import _abi

    return _abi.decoded(_abi.library().graphsan_version())


def __getattr__(name: str) -> Any:
    if name == "Segment":  # torch is needed only where it is used
        from ._torch import Segment

        return Segment
    raise AttributeError(f"module 'graphsan' has no attribute '{name}'")
