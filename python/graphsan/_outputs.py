"""The outputs of a step: what it returns, in buffers whose addresses are known before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from . import _arrays
from ._context import Context
from ._declarations import Output, output_lane_axis
from ._numbers import INT64, whole


def _is_part(value: Any, buffer: Any) -> bool:
    """Whether an array is a buffer, or the first lanes of it."""
    part, whole = _arrays.describe(value), _arrays.describe(buffer)
    return (
        (part.address, part.strides, part.item_bytes)
        == (whole.address, whole.strides, whole.item_bytes)
        and len(part.shape) == len(whole.shape)
        and all(a <= b for a, b in zip(part.shape, whole.shape))
    )


class OutputBuffers:
    """Persistent copies of what the step returns: addresses must be known before a step runs."""

    def __init__(self, declared: Mapping[str, Output], memory: Any):
        self._declared = dict(declared)
        self._memory = memory
        self._likes: Optional[dict[str, Any]] = None
        self._buffers: dict[tuple[str, str, int], Any] = {}

    @staticmethod
    def by_name(value: Any) -> dict[str, Any]:
        if value is None:
            return {}
        if _arrays.is_array(value):
            return {"output": value}
        if isinstance(value, Mapping):
            return dict(value)
        if isinstance(value, (tuple, list)):
            return {f"output {i}": one for i, one in enumerate(value)}
        raise TypeError(
            f"the step returned {type(value).__name__}; return None, an array, or a dict or tuple of arrays"
        )

    def _returned(self, value: Any) -> dict[str, Any]:
        """What a step returned, but for declared buffers: those are compared where they lie. Raises TypeError
        or ValueError for what cannot be compared."""
        made = self.by_name(value)
        for name, one in list(made.items()):
            if not _arrays.is_array(one):
                raise TypeError(
                    f"the step returned {type(one).__name__} as `{name}`; outputs are arrays with one "
                    "row a lane"
                )
            if any(_is_part(one, o.tensor) for o in self._declared.values() if o.tensor is not None):
                del made[name]
            elif self.declared(name).tensor is not None:
                raise ValueError(
                    f"output `{name}` has a tensor and the step returned another array under that name; "
                    "return the tensor or nothing, or leave tensor= out"
                )
        return made

    def top_k(self) -> Optional[tuple[int, int]]:
        """Blocks that a lane selects, and the keys of a block; None without a top-k."""
        for name, output in self._declared.items():
            if output.kind != "top-k":
                continue
            like = output.tensor if output.tensor is not None else (self._likes or {})[name]
            keys = whole(f"output `{name}`: block_size", output.block_size, 0, INT64)
            if keys < 1:
                raise ValueError(
                    f"output `{name}`: give block_size, the keys of a block that it selects"
                )
            return int(like.shape[-1]), keys
        return None

    def discover(self, value: Any) -> None:
        made = self._returned(value)
        for name, declared in self._declared.items():
            if declared.tensor is None and name not in made:
                raise ValueError(
                    f"output `{name}` is declared and the step returned {', '.join(made) or 'nothing'}; "
                    "return a dict with that name, or give Output(tensor=...)"
                )
        self._likes = made

    def declared(self, name: str) -> Output:
        return self._declared.get(name, Output())

    def _buffer(self, name: str, arm: str, lanes: int) -> Any:
        key = (name, "eager" if arm == "eager" else "padded", lanes)
        if key not in self._buffers:
            like = (self._likes or {})[name]
            shape = list(like.shape)
            shape[output_lane_axis(name, self.declared(name), like)] = lanes
            self._buffers[key] = self._memory.empty(tuple(shape), like)
        return self._buffers[key]

    def buffers(self, arm: str, lanes: int) -> dict[str, Any]:
        made = {name: o.tensor for name, o in self._declared.items() if o.tensor is not None}
        made.update(self.returned_buffers(arm, lanes))
        return made

    def returned_buffers(self, arm: str, lanes: int) -> dict[str, Any]:
        return {name: self._buffer(name, arm, lanes) for name in self._likes or {}}

    def write(self, value: Any, context: Context, backend: Any) -> None:
        made = self._returned(value)
        if self._likes is None or set(made) != set(self._likes):
            raise ValueError(
                f"the step returned {', '.join(made) or 'nothing'} in the {context.arm} arm and "
                f"{', '.join(self._likes or {}) or 'nothing'} at first; return the same outputs in each call"
            )
        for name, one in made.items():
            buffer = self._buffer(name, context.arm, context.lanes)
            if tuple(one.shape) != tuple(buffer.shape) or one.dtype != buffer.dtype:
                raise ValueError(
                    f"output `{name}` has shape {tuple(one.shape)} {one.dtype} for {context.lanes} lanes, "
                    f"and {tuple(buffer.shape)} {buffer.dtype} was expected: one row a lane of this call"
                )
            backend.write_output(context, buffer, one)
