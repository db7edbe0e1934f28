"""A Python callable as the C ABI's step: one object per check, whose functions the library calls."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, NamedTuple, Optional

from . import _abi
from ._backends import HostBackend
from ._batches import Batch
from ._context import CallFacts, Context, Metadata
from ._declarations import Cache, Output, require_output_buffers
from ._described import ARMS, Described
from ._failures import Failures
from ._inputs import RESERVED, InputBuffers, accepted
from ._outputs import OutputBuffers
from ._table import make_table


class Hooks(NamedTuple):
    """The optional functions of a caller."""

    prepare: Optional[Callable[..., Any]]
    reset: Optional[Callable[..., Any]]
    history: Optional[Callable[..., Any]]
    capture: Optional[Callable[..., Any]]


class HostedStep:
    """The functions of `graphsan_plugin_table`, over a callable of the caller's."""

    def __init__(
        self,
        step: Callable[..., Any],
        name: str,
        caches: Mapping[str, Cache],
        batches: Sequence[Batch],
        outputs: Mapping[str, Output],
        opaque: Mapping[str, Any],
        hooks: Hooks,
        pad_values: Mapping[str, int],
        dummy: Mapping[str, Any],
        cuda_device: Any,
        tensors: bool,
        source_lines: bool,
    ):
        self.name = name
        self.failures = Failures()
        self.is_cuda = cuda_device is not None
        self.has_history = hooks.history is not None
        self._step = step
        self._caches = dict(caches)
        self._batches = list(batches)
        self._opaque = dict(opaque)
        self._hooks = hooks
        self._backend: Any
        if cuda_device is None:
            self._backend = HostBackend(tensors, self.failures, self._live, source_lines)
        else:
            from . import _torch

            if hooks.capture is None:
                _torch.require_raw_graphs()
            self._backend = _torch.CudaBackend(cuda_device, self._live, source_lines)
        self._buffers = InputBuffers(batches, pad_values, dummy, self._backend)
        self._outputs = OutputBuffers(outputs, self._backend.memory)
        self.described = Described(
            name,
            self._caches,
            self._batches,
            self._opaque,
            self._outputs,
            self._backend,
            self.failures.note,
        )
        require_output_buffers(outputs, self._caches, batches)
        inputs = list(batches[0].inputs)
        offered = ["ctx", "slot_mapping"]
        if batches[0].index_slot_mapping is not None:
            offered.append("index_slot_mapping")
        self._cache_names = [n for n in self._caches if n not in inputs]
        offered += inputs + self._cache_names
        # What a caller's prepare() gives is known when it has been called.
        self._takes: Optional[list[str]] = (
            accepted(step, inputs, offered, self._cache_names) if hooks.prepare is None else None
        )
        self._snapshots: dict[str, Any] = {}
        self._live_call: Optional[CallFacts] = None
        self._now: tuple[CallFacts, dict[str, Any]]
        self._prepared: dict[tuple[str, int], dict[str, Any]] = {}
        self._launched_once = False
        self._graph_steps = 0  # prepared for the graph arm since the first capture
        self._last_step = -1
        self._captured_once = False
        self._captures: dict[int, Any] = {}
        self.table = make_table(self)

    def close(self) -> None:
        """Lets go of arrays and graphs once the check has ended: the table's callbacks refer to this object,
        and GPU memory would wait for the garbage collector."""
        vars(self).clear()

    def create(self, host: Any) -> None:
        self.failures.attach(host)
        self._backend.attach(host)
        self._create()

    def destroy(self) -> None:
        self._captures.clear()

    # Calls -------------------------------------------------------------------------------------

    def _facts(self, call: Any, arrays: Mapping[str, Any]) -> CallFacts:
        metadata = None
        if call.metadata != _abi.METADATA_NONE:
            metadata = Metadata(
                call.tokens,
                call.bucket,
                arrays.get("slot_mapping"),
                arrays.get("index_slot_mapping"),
                {n: v for n, v in arrays.items() if n not in RESERVED},
            )
        return CallFacts(
            call.step,
            ARMS[call.arm],
            call.tokens,
            call.bucket,
            bool(call.capturing),
            metadata,
            call.stream or 0,
        )

    @contextlib.contextmanager
    def _live(self, context: Context, stream: int) -> Iterator[None]:
        """Lets a captured context tell of the batch that is replayed, and launch on the replay's stream."""
        before = context._facts
        context._facts = (self._live_call or before)._replace(stream=stream)
        try:
            yield
        finally:
            context._facts = before

    def prepare(self, call: Any) -> None:
        with self._backend.on(call.stream or 0):
            self._backend.settle(call.stream or 0)
            arm, step = ARMS[call.arm], call.step
            self._count(arm, step)
            if self._hooks.prepare is not None:
                arrays = self._prepare_by_caller(call)
            elif arm == "eager":
                arrays = self._buffers.fresh(step)
            else:
                arrays = self._buffers.refill(step, call.tokens, call.bucket)
            facts = self._facts(call, arrays)
            self._now = (facts, arrays)
            self._live_call = facts
            self.failures.step = step
            self._prepared[(arm, step) if arm == "eager" else (arm, 0)] = arrays

    def _count(self, arm: str, step: int) -> None:
        """Experiments begin with the first pass after the graph has replayed each batch that it serves."""
        served = sum(not batch.eager_reason for batch in self._batches)
        if self._captured_once and self._graph_steps >= served and step <= self._last_step:
            self.failures.in_experiment = True
        self._last_step = step
        self._graph_steps += self._captured_once and arm == "graph" and step >= 0

    def _prepare_by_caller(self, call: Any) -> dict[str, Any]:
        sources = self._buffers.sources(call.step, call.bucket)
        context = Context(self._facts(call, sources), self._backend)
        names = accepted(self._hooks.prepare or (lambda: None), [], ["ctx", *sources])
        given = {n: context if n == "ctx" else sources[n] for n in names}
        made = (self._hooks.prepare or (lambda: None))(**given)
        if made is None:
            return {}
        if not isinstance(made, Mapping):
            raise TypeError(
                f"prepare returned {type(made).__name__}; return a dict of what the step is called with, or "
                "None"
            )
        return dict(made)

    def _call_step(self, facts: CallFacts, arrays: Mapping[str, Any], capturing: bool) -> Any:
        context = Context(facts._replace(capturing=capturing), self._backend)
        caches = {n: self._caches[n].tensor for n in self._cache_names}
        given = {**caches, **arrays, "ctx": context}
        names = self._takes
        if names is None:
            names = accepted(self._step, [], list(given), [n for n in caches if n not in arrays])
        value = self._step(**{n: given[n] for n in names if n in given})
        return context, value

    def run(self, call: Any) -> None:
        if call.capturing:
            self._captured_once = True
        stream = call.stream or 0
        facts, arrays = self._now
        facts = facts._replace(stream=stream)
        before = self._backend.launches
        with self._backend.on(stream), self._backend.labelled(stream):
            context, value = self._call_step(facts, arrays, bool(call.capturing))
            self._require_launches(before)
            if call.capturing and self._backend.launches == before:
                known = "a dummy batch" if facts.metadata is not None else "no metadata"
                self.failures.note(
                    f"the step launched nothing while it was captured with {known}: the graph writes "
                    "nothing, and a replay would leave every row as it was"
                )
            self._outputs.write(value, context, self._backend)

    def _discover(self) -> None:
        """Runs step 0 at once, before anything is measured, to learn what it returns."""
        call = _abi.Call(
            ctypes.sizeof(_abi.Call),
            0,
            _abi.EAGER,
            self._batches[0].tokens,
            self._batches[0].bucket or 0,
            _abi.METADATA_LIVE,
            0,
            None,
        )
        self._backend.immediate = True
        try:
            with self._backend.on(0):
                self.prepare(call)
                facts, arrays = self._now
                with self._backend.labelled(0):
                    _, value = self._call_step(facts, arrays, False)
                self._outputs.discover(value)
                self._backend.settle(0)
        finally:
            self._backend.immediate = False
        self._require_launches(0)

    def _require_launches(self, before: int) -> None:
        if self._backend.launches == before and not self._launched_once:
            raise ValueError(
                "the step launched nothing: its Python runs at capture and never at replay. Give the work to "
                "ctx.launch(function, *arguments)"
            )
        self._launched_once = True

    def _create(self) -> None:
        # Before adopt(), which waits for what the caller has under way: the step changes them elsewhere.
        for name, value in self._opaque.items():
            self._snapshots[name] = self._backend.memory.clone(value)
        self._backend.adopt(
            [
                *((name, cache.tensor) for name, cache in self._caches.items()),
                *self._opaque.items(),
                *((n.replace("_", " "), v) for n, v in self._buffers.padded.items()),
                *self._outputs.buffers("graph", 0).items(),
            ]
        )
        self._discover()
        self._backend.adopt(
            [
                (f"{name} ({arm}, {lanes} lanes)", value)
                for batch in self._batches
                for arm, lanes in (("eager", batch.tokens), ("graph", int(batch.bucket or 0)))
                for name, value in self._outputs.returned_buffers(arm, lanes).items()
            ]
        )

    def reset(self, stream: int) -> None:
        with self._backend.on(stream):
            self._backend.settle(stream)
            self._buffers.reset()
            for name, value in self._snapshots.items():
                self._backend.memory.assign(self._opaque[name], value)
                self._backend.upload(self._opaque[name])
            if self._hooks.reset is not None:
                self._hooks.reset()

    def history(self, stream: int) -> None:
        with self._backend.on(stream):
            self._backend.settle(stream)
            facts = CallFacts(-1, "eager", 0, 0, False, None, stream)
            given = {"ctx": Context(facts, self._backend)}
            hook = self._hooks.history or (lambda: None)
            hook(**{n: given[n] for n in accepted(hook, [], ["ctx"])})
            self._backend.settle(stream)

    def inputs(self, call: Any, out: Any, count: Any) -> None:
        arm = ARMS[call.arm]
        if self._hooks.prepare is not None:
            arrays = self._prepared.get((arm, call.step) if arm == "eager" else (arm, 0), {})
        else:
            arrays = self._buffers.lanes(arm, call.step, call.bucket)
        self.described.inputs(call, arrays, self._buffers.pads, out, count)

    # Captures on CUDA --------------------------------------------------------------------------

    def capture(self, call: Any, out: Any, count: Any, handle: Any) -> None:
        from . import _torch

        self._captured_once = True
        stream = call.stream or 0
        facts, arrays = self._now
        facts = facts._replace(stream=stream)

        def run() -> Any:
            context, value = self._call_step(facts, arrays, True)
            self._outputs.write(value, context, self._backend)
            self._backend.end_label()

        with self._backend.on(stream):
            if self._hooks.capture is None:
                captured = self._backend.capture(stream, run, len(self._captures))
            else:
                context = Context(facts._replace(capturing=True), self._backend)
                with self._backend.labelled(stream):
                    made = self._hooks.capture(context, run)
                captured = _torch.Captured(_torch.pieces_of(made), made)
        pieces = _torch.segments(captured.pieces, self._eager_op)
        held = (_abi.Segment * max(1, len(pieces)))(*pieces)
        key = max(self._captures, default=0) + 1
        self._captures[key] = (captured, held, pieces)
        out[0] = held
        count[0] = len(pieces)
        handle[0] = key

    def _eager_op(self, operation: Callable[[], Any]) -> Any:
        def body(stream: int) -> None:
            with self._backend.on(stream), self._backend.labelled(stream):
                operation()

        return self.failures.operation(body)

    def release(self, handle: int) -> None:
        self._captures.pop(handle, None)
