"""The host device, as a step's requests reach it."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Optional

from . import _abi, _arrays, _kernels
from ._context import Context
from ._failures import Failures, StepFailure
from ._labels import Labels


class HostBackend:
    """Python functions launched on the host device, which follows CUDA's rules of capture and replay.

    The device has memory of its own, with guard zones. What a caller declares (caches, inputs, outputs,
    opaque state) has a twin there: the arrays that a step sees are the host's, and a launched function gets
    views of the device's. An array that nobody declared is its own twin.
    """

    device = "host"

    def __init__(
        self,
        tensors: bool,
        failures: Failures,
        live: Callable[[Context, int], contextlib.AbstractContextManager[None]],
        source_lines: bool,
    ):
        self.memory = _arrays.NumpyMemory(tensors)
        self.launches = 0
        self._kernels = _kernels.Kernels(failures.kernel_failed, self.place, self.declared)
        self._live = live
        self._failures = failures
        self._labels = Labels(source_lines)
        self._host: Any = None
        # Host memory [first, last), where its twin is, and what it was declared as.
        self._twins: list[tuple[int, int, int, str]] = []
        self.immediate = False  # launches run at once: nothing is on the device yet
        # What captured work names must outlive the graphs; so must what padded work names, which a node
        # may be pointed at to see whether it becomes right. What eager work names, the stream.
        self._kept: list[Any] = []
        self._in_flight: list[Any] = []
        self._ops: list[Any] = []

    def attach(self, host: Any) -> None:
        self._host = host

    def adopt(self, arrays: Sequence[tuple[str, Any]]) -> None:
        """Makes twins of arrays, each with what it is called. Arrays that overlap or touch share one: a
        launch may name them as one array, and there is no guard zone between them, as in the caller's memory.
        In create() only."""
        spans = sorted(
            {(*_arrays.bounds(_arrays.describe(one)), name) for name, one in arrays}
        )
        merged: list[tuple[int, int, str]] = []
        for first, last, name in spans:
            if first == last:
                continue
            if merged and first <= merged[-1][1]:
                before = merged.pop()
                merged.append((before[0], max(before[1], last), f"{before[2]} and {name}"))
            else:
                merged.append((first, last, name))
        for first, last, name in merged:
            size = (
                -(-(last - first) // 16) * 16
            )  # rows of guard zones are hashed faster when aligned
            twin = self._host.contents.allocate(self._host, _abi.encoded(name), size)
            if not twin:
                raise StepFailure(f"no memory is left for the {last - first} bytes of {name}")
            self._twins.append((first, last, twin, name))
            ctypes.memmove(twin, first, last - first)

    def on_device(self, address: int) -> int:
        for first, last, twin, _ in self._twins:
            if first <= address < last:
                return twin + address - first
        return address

    def declared(self, array: _arrays.Array) -> Optional[str]:
        """What an array was declared as, if only in part; None: as nothing."""
        low, high = _arrays.bounds(array)
        names = (name for first, last, _, name in self._twins if low < last and first < high)
        return next(names, None) if low < high else None

    def place(self, what: str, array: _arrays.Array) -> int:
        """Where an array is on the device. Raises ValueError where only a part of it was declared: its twin
        ends where the declared part does."""
        low, high = _arrays.bounds(array)
        for first, last, _, name in self._twins:
            if low < last and first < high and not first <= low <= high <= last:
                raise ValueError(
                    f"{what} lies only partly in what is declared ({name}); declare the rest of it too, as a "
                    "cache or in opaque=, or name a declared part alone"
                )
        return self.on_device(array.address)

    def upload(self, value: Any) -> None:
        """Copies a declared array's bytes to its twin; the stream must be idle."""
        first, last = _arrays.bounds(_arrays.describe(value))
        ctypes.memmove(self.on_device(first), first, last - first)

    def _keep(self, context: Context, *values: Any) -> None:
        (self._in_flight if context.arm == "eager" else self._kept).append(values)

    def _name_line(self, context: Context) -> None:
        text = self._labels.current()
        if text is not None:
            self._host.contents.label(self._host, context.stream, _abi.encoded(text))

    def launch(
        self,
        context: Context,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        kernel, data = self._kernels.prepare(fn, args, kwargs)
        self.launches += 1
        if self.immediate:
            kernel.struct.run(ctypes.addressof(data))
            return
        self._name_line(context)
        self._keep(context, args, kwargs, fn)
        if self._host.contents.launch(self._host, context.stream, kernel.struct, data):
            raise StepFailure(f"the launch of {_abi.decoded(kernel.struct.name)} was refused")

    def copy(self, context: Context, to: Any, value: Any) -> None:
        left, right = _arrays.describe(to), _arrays.describe(value)
        if left.shape != right.shape or left.item_bytes != right.item_bytes:
            raise ValueError(
                f"copy() from shape {right.shape} to {left.shape}; both need one shape and size of element"
            )
        self.launch(context, self.memory.assign, (to, value), {})

    def label(self, context: Context, text: Optional[str]) -> None:
        self._labels.own = text

    def eager_break(self, context: Context, name: str, op: Callable[[], Any]) -> None:
        if self.immediate:
            op()
            return

        def body(stream: int) -> None:
            with self._live(context, stream):
                op()

        callback = self._failures.operation(body)
        self._ops.append(callback)
        if self._host.contents.run_eagerly(
            self._host, context.stream, _abi.encoded(name), callback, None
        ):
            raise StepFailure(f"the op {name} that runs eagerly failed")

    @contextlib.contextmanager
    def on(self, stream: int) -> Iterator[None]:
        yield

    @contextlib.contextmanager
    def labelled(self, stream: int) -> Iterator[None]:
        self._labels.own = None
        yield

    def settle(self, stream: int) -> None:
        """Waits for the stream, and lets go of what its work named."""
        if not self.immediate and self._host.contents.synchronize(self._host, stream):
            raise StepFailure("waiting for the stream was refused")
        self._in_flight.clear()

    def write_output(self, context: Context, to: Any, value: Any) -> None:
        with self._labels.output():
            self.launch(context, self.memory.assign, (to, value), {})
        self.launches -= 1
