"""A Python callable as the C ABI's step: one object per check, whose functions the library calls."""

from __future__ import annotations

import contextlib
import ctypes
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from . import _abi, _arrays, _frames
from ._backends import HostBackend, StepFailure
from ._context import CallFacts, Context, Metadata
from ._declarations import (
    Batch,
    Cache,
    Output,
    cache_struct,
    output_struct,
    require_output_buffers,
    require_rows,
)
from ._inputs import RESERVED, InputBuffers, accepted
from ._interrupt import Interrupt
from ._outputs import OutputBuffers

_ARMS = ("eager", "padded-eager", "graph")


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
        self._step = step
        self._name = name
        self._caches = dict(caches)
        self._batches = list(batches)
        self._opaque = dict(opaque)
        self._hooks = hooks
        self.exception: Optional[BaseException] = None
        self.stop: Optional[BaseException] = None
        self.interrupt = Interrupt()
        self.notes: list[str] = []
        self._kernel_failure: Optional[str] = None
        self._graph_steps = 0  # prepared for the graph arm since the first capture
        self._captured_once = False
        self._backend: Any
        if cuda_device is None:
            self._backend = HostBackend(
                tensors, self._kernel_failed, self._live, self._guarded, source_lines
            )
        else:
            from ._torch import CudaBackend

            self._backend = CudaBackend(cuda_device, self._live, source_lines)
        self._cuda = cuda_device is not None
        self._buffers = InputBuffers(batches, pad_values, dummy, self._backend)
        self._cache_structs = [cache_struct(n, c) for n, c in self._caches.items()]
        require_rows(self._cache_structs, self._caches, batches)
        require_output_buffers(outputs, self._caches, batches)
        self._outputs = OutputBuffers(outputs, self._backend.memory)
        inputs = list(batches[0].inputs)
        offered = ["ctx", "slot_mapping"]
        if batches[0].index_slot_mapping is not None:
            offered.append("index_slot_mapping")
        self._cache_names = [n for n in self._caches if n not in inputs]
        offered += inputs + self._cache_names
        # What a caller's prepare() gives is known when it has been called.
        self._takes: Optional[list[str]] = (
            accepted(step, inputs, offered) if hooks.prepare is None else None
        )
        self._snapshots: dict[str, Any] = {}
        self._live_call: Optional[CallFacts] = None
        self._now: tuple[CallFacts, dict[str, Any]]
        self._prepared: dict[tuple[str, int], dict[str, Any]] = {}
        self._launched_once = False
        self._captures: dict[int, Any] = {}
        self._keep: dict[str, Any] = {}
        self._host: Any = None
        self.table = self._make_table()

    def close(self) -> None:
        """Lets go of arrays and graphs once the check has ended: the table's callbacks refer to this object,
        and GPU memory would wait for the garbage collector."""
        vars(self).clear()

    # Errors ------------------------------------------------------------------------------------

    def _failure(self, error: BaseException) -> str:
        if not isinstance(error, Exception):
            self.stop = error
        if self.exception is None or not isinstance(error, StepFailure):
            self.exception = error
        text = _frames.in_one_line(error)
        _frames.keep_callers_frames(error)
        return text

    def _guarded(self, body: Callable[[], Any]) -> int:
        """Runs what the library called; an exception becomes the failure of the call."""
        try:
            if self.interrupt.seen:
                raise KeyboardInterrupt
            if self._kernel_failure is not None:
                failure, self._kernel_failure = self._kernel_failure, None
                self._host.contents.fail(self._host, failure.encode())
                return 1
            body()
            return 0
        except BaseException as error:  # nothing may leave a callback from C
            text = self._failure(error)
            if self._host is not None:
                self._host.contents.fail(self._host, text.encode())
            return 1

    def _note(self, text: str) -> None:
        if text not in self.notes and len(self.notes) < 8:
            self.notes.append(text)

    def _kernel_failed(self, kernel: str, error: BaseException) -> None:
        """A kernel cannot return an error: it is told at the library's next call. Experiments that come
        after the graph's own replays plant wrong values on purpose, and a kernel may trap on those."""
        where = "" if self._live_call is None else f" of step {self._live_call.step}"
        text = f"the launched function {kernel}{where} raised {_frames.in_one_line(error)}"
        in_experiment = self._captured_once and self._graph_steps > len(self._batches)
        if not isinstance(error, Exception):
            self.stop = error  # such as KeyboardInterrupt: it ends the check wherever it is raised
        elif in_experiment:
            self._note(f"in an experiment, {text}; it wrote nothing further")
            return
        if self._kernel_failure is None:
            self._failure(error)
            self._kernel_failure = text
            # Its locals are views of device memory, which is gone when somebody looks at them.
            traceback.clear_frames(error.__traceback__)

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
            _ARMS[call.arm],
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

    def _prepare(self, call: Any) -> None:
        with self._backend.on(call.stream or 0):
            self._backend.settle(call.stream or 0)
            arm, step = _ARMS[call.arm], call.step
            if arm == "graph" and step >= 0 and self._captured_once:
                self._graph_steps += 1
            if self._hooks.prepare is not None:
                arrays = self._prepare_by_caller(call)
            elif arm == "eager":
                arrays = self._buffers.fresh(step)
            else:
                arrays = self._buffers.refill(step, call.tokens, call.bucket)
            facts = self._facts(call, arrays)
            self._now = (facts, arrays)
            self._live_call = facts
            self._prepared[(arm, step) if arm == "eager" else (arm, 0)] = arrays

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
        given = dict(arrays)
        given["ctx"] = context
        given.update({n: self._caches[n].tensor for n in self._cache_names})
        names = self._takes if self._takes is not None else accepted(self._step, [], list(given))
        value = self._step(**{n: given[n] for n in names if n in given})
        return context, value

    def _run(self, call: Any) -> None:
        stream = call.stream or 0
        facts, arrays = self._now
        facts = facts._replace(stream=stream)
        before = self._backend.launches
        with self._backend.on(stream), self._backend.labelled(stream):
            context, value = self._call_step(facts, arrays, bool(call.capturing))
            self._require_launches(before)
            if call.capturing and self._backend.launches == before:
                known = "a dummy batch" if facts.metadata is not None else "no metadata"
                self._note(
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
                self._prepare(call)
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
        declared = {name: cache.tensor for name, cache in self._caches.items()}
        declared.update(self._opaque)
        declared.update({n.replace("_", " "): v for n, v in self._buffers.padded.items()})
        declared.update(self._outputs.buffers("graph", 0))
        self._backend.adopt(declared)
        for name, value in self._opaque.items():
            self._snapshots[name] = self._backend.memory.clone(value)
        self._discover()
        made: dict[str, Any] = {}
        for batch in self._batches:
            for arm, lanes in (("eager", batch.tokens), ("graph", int(batch.bucket or 0))):
                for name, value in self._outputs.returned_buffers(arm, lanes).items():
                    made[f"{name} ({arm}, {lanes} lanes)"] = value
        self._backend.adopt(made)

    def _reset(self, stream: int) -> None:
        with self._backend.on(stream):
            self._backend.settle(stream)
            self._buffers.reset()
            for name, value in self._snapshots.items():
                self._backend.memory.assign(self._opaque[name], value)
                self._backend.upload(self._opaque[name])
            if self._hooks.reset is not None:
                self._hooks.reset()

    def _history(self, stream: int) -> None:
        with self._backend.on(stream):
            self._backend.settle(stream)
            facts = CallFacts(-1, "eager", 0, 0, False, None, stream)
            given = {"ctx": Context(facts, self._backend)}
            hook = self._hooks.history or (lambda: None)
            hook(**{n: given[n] for n in accepted(hook, [], ["ctx"])})
            self._backend.settle(stream)

    # What the library reads --------------------------------------------------------------------

    def _describe(self, out: Any) -> None:
        states = []
        for name, value in self._opaque.items():
            array = _arrays.describe(value)
            size = array.item_bytes * int(np.prod(array.shape, dtype=np.int64))
            address = self._backend.on_device(array.address)
            states.append(_abi.State(ctypes.sizeof(_abi.State), name.encode(), address, size))
        top_k = self._outputs.top_k()
        caches = (_abi.Cache * len(self._cache_structs))(*self._cache_structs)
        for one in caches:
            one.data = self._backend.on_device(one.data)
        held = (_abi.State * max(1, len(states)))(*states)
        name = self._name.encode()
        self._keep["describe"] = (caches, held, name)
        out.name = name
        out.steps = len(self._batches)
        out.cache_count = len(caches)
        out.caches = caches
        out.state_count = len(states)
        out.states = held
        if top_k:
            out.top_k, out.block_size = top_k

    def _batch(self, step: int, out: Any) -> None:
        batch = self._batches[step]

        def pointer(values: Any, kind: Any) -> Any:
            return None if values is None else values.ctypes.data_as(ctypes.POINTER(kind))

        out.tokens = batch.tokens
        out.bucket = batch.bucket or 0
        out.slots = pointer(batch.slot_mapping, ctypes.c_int64)
        out.index_slots = pointer(batch.index_slot_mapping, ctypes.c_int64)
        out.sequences = pointer(batch.sequences, ctypes.c_int32)
        out.positions = pointer(batch.positions, ctypes.c_int64)
        kind = batch.kind.encode()
        reason = batch.eager_reason.encode() if batch.eager_reason else None
        self._keep["batch"] = (kind, reason)
        out.kind = kind
        out.eager_reason = reason

    def _inputs(self, call: Any, out: Any, count: Any) -> None:
        arm = _ARMS[call.arm]
        lanes = call.tokens if arm == "eager" else call.bucket
        if self._hooks.prepare is not None:
            arrays = self._prepared.get((arm, call.step) if arm == "eager" else (arm, 0), {})
        else:
            arrays = self._buffers.lanes(arm, call.step, call.bucket)
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
            pad = self._buffers.pads.get(name, None if array.is_float else 0)
            made.append(
                _abi.Input(
                    ctypes.sizeof(_abi.Input),
                    name.replace("_", " ").encode(),
                    self._backend.place(f"input `{name}`", array),
                    lane_bytes,
                    array.strides[0] if lanes > 1 else 0,
                    _abi.DTYPES[array.dtype or "u8"],
                    pad is None,
                    pad or 0,
                )
            )
        held = (_abi.Input * max(1, len(made)))(*made)
        self._keep["inputs"] = held
        out[0] = held
        count[0] = len(made)

    def _declare_outputs(self, call: Any, out: Any, count: Any) -> None:
        arm = _ARMS[call.arm]
        lanes = call.tokens if arm == "eager" else call.bucket
        made = [
            output_struct(name, self._outputs.declared(name), value)
            for name, value in self._outputs.buffers(arm, lanes).items()
        ]
        for one in made:
            one.data = self._backend.on_device(one.data)
        held = (_abi.Output * max(1, len(made)))(*made)
        self._keep["outputs"] = held
        out[0] = held
        count[0] = len(made)

    # Captures on CUDA --------------------------------------------------------------------------

    def _capture(self, call: Any, out: Any, count: Any, handle: Any) -> None:
        from . import _torch

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
        def run(_argument: int, stream: int) -> int:
            def body() -> None:
                with self._backend.on(stream or 0), self._backend.labelled(stream or 0):
                    operation()

            return self._guarded(body)

        return _abi.OP(run)

    def _release(self, handle: int) -> None:
        self._captures.pop(handle, None)

    # The table ---------------------------------------------------------------------------------

    def _make_table(self) -> _abi.PluginTable:
        def create(host: Any, _options: bytes, made: Any) -> int:
            self._host = ctypes.cast(host, ctypes.POINTER(_abi.Host))
            self._backend.attach(self._host)
            made[0] = 1
            return self._guarded(self._create)

        def destroy(_self: int) -> None:
            self._captures.clear()

        def run(call: Any) -> None:
            if call.capturing:
                self._captured_once = True
            self._run(call)

        def capture(call: Any, out: Any, count: Any, handle: Any) -> None:
            self._captured_once = True
            self._capture(call, out, count, handle)

        def of_call(body: Callable[[Any], None]) -> Any:
            return _abi.CALL(lambda _self, call: self._guarded(lambda: body(call.contents)))

        def on_stream(body: Callable[[int], None]) -> Any:
            return _abi.ON_STREAM(lambda _self, stream: self._guarded(lambda: body(stream or 0)))

        table = _abi.PluginTable(
            abi_version=_abi.PLUGIN_ABI,
            struct_size=ctypes.sizeof(_abi.PluginTable),
            name=self._name.encode(),
            create=_abi.CREATE(create),
            destroy=_abi.DESTROY(destroy),
            describe=_abi.DESCRIBE(
                lambda _self, out: self._guarded(lambda: self._describe(out.contents))
            ),
            batch=_abi.BATCH(
                lambda _self, step, out: self._guarded(lambda: self._batch(step, out.contents))
            ),
            prepare=of_call(self._prepare),
            run=of_call(run),
            reset=on_stream(self._reset),
            inputs=_abi.INPUTS(
                lambda _self, call, out, count: self._guarded(
                    lambda: self._inputs(call.contents, out, count)
                )
            ),
            outputs=_abi.OUTPUTS(
                lambda _self, call, out, count: self._guarded(
                    lambda: self._declare_outputs(call.contents, out, count)
                )
            ),
        )
        if self._hooks.history is not None:
            table.history = on_stream(self._history)
        if self._cuda:
            table.capture = _abi.CAPTURE(
                lambda _self, call, out, count, handle: self._guarded(
                    lambda: capture(call.contents, out, count, handle)
                )
            )
            table.release = _abi.RELEASE(lambda _self, handle: self._release(handle or 0))
        return table
