"""What the library reads of a step: its caches, batches, inputs and outputs, as the ABI's structs."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

import numpy as np

from . import _abi, _arrays
from ._batches import Batch
from ._declarations import Cache, cache_struct, output_struct, require_rows
from ._outputs import OutputBuffers

ARMS = ("eager", "padded-eager", "graph")


def lanes_of(call: Any) -> int:
    return int(call.tokens if call.arm == _abi.EAGER else call.bucket)


class Described:
    """Fills the structs, and keeps what they point to until the next call of the same kind."""

    def __init__(
        self,
        name: str,
        caches: Mapping[str, Cache],
        batches: Sequence[Batch],
        opaque: Mapping[str, Any],
        outputs: OutputBuffers,
        backend: Any,
        note: Callable[[str], None],
    ):
        self._name = name
        self._batches = batches
        self._opaque = opaque
        self._outputs = outputs
        self._backend = backend
        self._note = note
        self._caches = [cache_struct(n, c) for n, c in caches.items()]
        require_rows(self._caches, caches, batches)
        self._keep: dict[str, Any] = {}

    def describe(self, out: Any) -> None:
        states = []
        for name, value in self._opaque.items():
            array = _arrays.describe(value)
            size = array.item_bytes * int(np.prod(array.shape, dtype=np.int64))
            address = self._backend.on_device(array.address)
            states.append(_abi.State(ctypes.sizeof(_abi.State), _abi.encoded(name), address, size))
        top_k = self._outputs.top_k()
        caches = (_abi.Cache * len(self._caches))(*self._caches)
        for one in caches:
            one.data = self._backend.on_device(one.data)
        held = (_abi.State * max(1, len(states)))(*states)
        title = _abi.encoded(self._name)
        self._keep["describe"] = (caches, held, title)
        out.name = title
        out.steps = len(self._batches)
        out.cache_count = len(caches)
        out.caches = caches
        out.state_count = len(states)
        out.states = held
        if top_k:
            out.top_k, out.block_size = top_k

    def batch(self, step: int, out: Any) -> None:
        batch = self._batches[step]

        def pointer(values: Any, kind: Any) -> Any:
            return None if values is None else values.ctypes.data_as(ctypes.POINTER(kind))

        out.tokens = batch.tokens
        out.bucket = batch.bucket or 0
        out.slots = pointer(batch.slot_mapping, ctypes.c_int64)
        out.index_slots = pointer(batch.index_slot_mapping, ctypes.c_int64)
        out.sequences = pointer(batch.sequences, ctypes.c_int32)
        out.positions = pointer(batch.positions, ctypes.c_int64)
        kind = _abi.encoded(batch.kind)
        reason = _abi.encoded(batch.eager_reason) if batch.eager_reason else None
        self._keep["batch"] = (kind, reason)
        out.kind = kind
        out.eager_reason = reason

    def inputs(
        self,
        call: Any,
        arrays: Mapping[str, Any],
        pads: Mapping[str, Optional[int]],
        out: Any,
        count: Any,
    ) -> None:
        lanes = lanes_of(call)
        made = []
        for name, value in arrays.items():
            if not _arrays.is_array(value):
                continue
            array = _arrays.describe(value)
            if not array.shape or array.shape[0] != lanes or 0 in array.shape:
                continue
            lane_bytes = array.item_bytes * int(np.prod(array.shape[1:], dtype=np.int64))
            if not _arrays.has_whole_lanes(array):
                self._note(
                    f"input `{name}` was not looked at: its lanes have gaps or share memory (strides "
                    f"{array.strides}); let prepare return a contiguous array"
                )
                continue
            pad = pads.get(name, None if array.is_float else 0)
            made.append(
                _abi.Input(
                    ctypes.sizeof(_abi.Input),
                    _abi.encoded(name.replace("_", " ")),
                    self._backend.place(f"input `{name}`", array),
                    lane_bytes,
                    array.strides[0] if lanes > 1 else 0,
                    _abi.DTYPES[array.dtype or "u8"],
                    pad is None,
                    pad or 0,
                )
            )
        self._hand_over("inputs", _abi.Input, made, out, count)

    def outputs(self, call: Any, out: Any, count: Any) -> None:
        made = [
            output_struct(name, self._outputs.declared(name), value)
            for name, value in self._outputs.buffers(ARMS[call.arm], lanes_of(call)).items()
        ]
        for one in made:
            one.data = self._backend.on_device(one.data)
        self._hand_over("outputs", _abi.Output, made, out, count)

    def _hand_over(self, kind: str, struct: Any, made: list[Any], out: Any, count: Any) -> None:
        held = (struct * max(1, len(made)))(*made)
        self._keep[kind] = held
        out[0] = held
        count[0] = len(made)
