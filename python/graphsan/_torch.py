"""Steps over torch's CUDA tensors: streams, captures, source lines. Imported only where such are given."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]
from torch.utils._python_dispatch import (  # type: ignore[import-not-found,unused-ignore]
    TorchDispatchMode,
)

from . import _abi, _arrays
from ._context import Context
from ._failures import GraphSanError
from ._labels import Labels


class Segment(NamedTuple):
    """One captured graph as raw handles: a cudaGraph_t and the cudaGraphExec_t made from it."""

    graph: int
    exec: int


class Piece(NamedTuple):
    """A graph or an op that runs eagerly, in the order of a replay."""

    graph: int
    exec: int
    eager_name: str
    eager: Optional[Callable[[], Any]]


class _Lines(TorchDispatchMode):  # type: ignore[misc,no-untyped-call,unused-ignore]
    """Tells of the caller's line before each op."""

    def __init__(self, tell: Callable[[], None]):
        super().__init__()  # type: ignore[no-untyped-call,unused-ignore]
        self._tell = tell

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._tell()
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def _triton_lines(tell: Callable[[], None]) -> Iterator[None]:
    """The same for Triton's launches, which are no ops of torch's."""
    jit = sys.modules.get("triton.runtime.jit")
    function = getattr(jit, "JITFunction", None)
    if function is None:
        yield
        return
    launch = function.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        tell()
        return launch(self, *args, **kwargs)

    function.run = run
    try:
        yield
    finally:
        function.run = launch


class CudaMemory:
    """Makes tensors on the device of the step's caches."""

    def __init__(self, device: torch.device):
        self._device = device

    def source(self, value: Any) -> torch.Tensor:
        return torch.as_tensor(value).detach().to(self._device, copy=True).contiguous()

    def empty(self, shape: tuple[int, ...], like: torch.Tensor) -> torch.Tensor:
        return torch.empty(shape, dtype=like.dtype, device=self._device)

    def assign(self, to: torch.Tensor, value: torch.Tensor) -> None:
        to.copy_(value)

    def slots(self, values: Any) -> torch.Tensor:
        return self.source(np.asarray(values, np.int64))

    def clone(self, value: torch.Tensor) -> torch.Tensor:
        return value.clone()


class _Recorder:
    """Captures a step in as many segments as its breaks make, into one private pool."""

    def __init__(self, pool: Any, stream: Any):
        self._pool = pool
        self._stream = stream
        self._open: Optional[Any] = None
        self._graph: Optional[torch.cuda.CUDAGraph] = None
        self.graphs: list[torch.cuda.CUDAGraph] = []
        self.pieces: list[Piece] = []

    def begin(self) -> None:
        self._graph = torch.cuda.CUDAGraph(keep_graph=True)
        self._open = torch.cuda.graph(
            self._graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
        )
        self._open.__enter__()

    def end(self) -> None:
        if self._open is None or self._graph is None:
            return
        graph = self._graph
        with warnings.catch_warnings():
            # A segment between two breaks may hold nothing.
            warnings.filterwarnings("ignore", message="The CUDA Graph is empty")
            self._open.__exit__(None, None, None)
        # Not before: where that raises, give_up() has the capture to end.
        self._open = self._graph = None
        graph.instantiate()
        self.graphs.append(graph)
        self.pieces.append(Piece(graph.raw_cuda_graph(), graph.raw_cuda_graph_exec(), "", None))

    def give_up(self) -> None:
        """Ends an open capture after an exception, which matters more than what this may raise."""
        if self._open is None:
            return
        opened, self._open = self._open, None
        try:
            opened.__exit__(None, None, None)
        except Exception:
            # A capture that was spoiled leaves the allocator recording into the pool.
            end = getattr(torch._C, "_cuda_endAllocateToPool", None)
            if end is not None:
                with contextlib.suppress(Exception):
                    end(torch.cuda.current_device(), self._pool)


def require_raw_graphs() -> None:
    """Raises GraphSanError where torch keeps the handles of its graphs to itself."""
    if not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph_exec"):
        raise GraphSanError(
            f"torch {torch.__version__} does not show the graphs that it captures: use torch 2.9 or later, "
            "or give capture=, which returns graphsan.Segment objects"
        )


class Captured:
    """A step's graphs; alive until the check gives them back."""

    def __init__(self, pieces: list[Piece], kept: Any):
        self.pieces = pieces
        self.kept = kept


def pieces_of(made: Any) -> list[Piece]:
    """What a caller's own capture returned, in the order of a replay. Raises TypeError."""
    several = made if isinstance(made, Sequence) and not isinstance(made, Segment) else [made]
    pieces = []
    for one in several:
        if isinstance(one, Segment):
            pieces.append(Piece(one.graph, one.exec, "", None))
        elif isinstance(one, torch.cuda.CUDAGraph):
            require_raw_graphs()
            try:
                pieces.append(Piece(one.raw_cuda_graph(), one.raw_cuda_graph_exec(), "", None))
            except RuntimeError as error:
                raise TypeError(
                    f"capture: {error}; make the graph with torch.cuda.CUDAGraph(keep_graph=True) and "
                    "instantiate() it"
                ) from error
        elif callable(one):
            pieces.append(Piece(0, 0, getattr(one, "__name__", "eager op"), one))
        else:
            raise TypeError(
                f"capture returned {type(one).__name__}; give torch.cuda.CUDAGraph objects, "
                "graphsan.Segment(graph, exec), and callables that run between them"
            )
    return pieces


def segments(
    pieces: Sequence[Piece], make_op: Callable[[Callable[[], Any]], Any]
) -> list[_abi.Segment]:
    """The ABI's segments: an eager op belongs to the graph before it, if there is one."""
    made: list[_abi.Segment] = []
    for piece in pieces:
        op = _abi.OP() if piece.eager is None else make_op(piece.eager)
        name = _abi.encoded(piece.eager_name)
        if piece.eager is not None and made and not made[-1].eager:
            made[-1].eager = op
            made[-1].eager_name = name
            continue
        made.append(
            _abi.Segment(
                struct_size=ctypes.sizeof(_abi.Segment),
                graph=piece.graph or None,
                exec=piece.exec or None,
                eager_name=None if piece.eager is None else name,
                eager=op,
            )
        )
    return made


class CudaBackend:
    """torch on CUDA: the step's work goes to the stream that a call names."""

    device = "cuda"

    def __init__(
        self, device: torch.device, live: Callable[[Context, int], Any], source_lines: bool
    ):
        self.memory = CudaMemory(device)
        self._device = device
        self._live = live
        self._labels = Labels(source_lines)
        self._host: Any = None
        self._recorder: Optional[_Recorder] = None
        self._pool: Any = None
        self.immediate = False
        self.launches = 1  # what a step launches is not counted here

    def attach(self, host: Any) -> None:
        self._host = host

    def adopt(self, arrays: Sequence[tuple[str, Any]]) -> None:
        """Tensors are on the device already; what made them may still run on a stream of the caller's."""
        torch.cuda.synchronize(self._device)

    def on_device(self, address: int) -> int:
        return address

    def place(self, what: str, array: _arrays.Array) -> int:
        return array.address

    def upload(self, value: Any) -> None:
        """As adopt()."""

    def _tell(self, text: Optional[str]) -> None:
        if self.immediate:
            return
        stream = torch.cuda.current_stream(self._device).cuda_stream
        self._host.contents.label(self._host, stream, None if text is None else _abi.encoded(text))

    def end_label(self) -> None:
        """Ends the last line's work."""
        if self._labels.source_lines:
            self._tell(None)

    def launch(
        self,
        context: Context,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        fn(*args, **kwargs)

    def copy(self, context: Context, to: Any, value: Any) -> None:
        to.copy_(value)

    def label(self, context: Context, text: Optional[str]) -> None:
        self._labels.own = text
        self._tell(text)

    def eager_break(self, context: Context, name: str, op: Callable[[], Any]) -> None:
        def again() -> None:
            stream = torch.cuda.current_stream(self._device).cuda_stream
            with self._live(context, stream):
                op()

        if self._recorder is None:
            op()
            return
        recorder = self._recorder
        self.end_label()  # the nodes so far get their line while the stream still captures
        recorder.end()
        self._recorder = None
        try:
            again()
        finally:
            self._recorder = recorder
        recorder.pieces.append(Piece(0, 0, name, again))
        recorder.begin()

    def _stream(self, stream: int) -> Any:
        if stream:
            outside = torch.cuda.ExternalStream
            return outside(stream, device=self._device)  # type: ignore[no-untyped-call,unused-ignore]
        return torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call,unused-ignore]

    @contextlib.contextmanager
    def on(self, stream: int) -> Iterator[None]:
        with torch.cuda.device(self._device):
            with torch.cuda.stream(self._stream(stream)):
                yield

    @contextlib.contextmanager
    def labelled(self, stream: int) -> Iterator[None]:
        self._labels.own = None
        if not self._labels.source_lines:
            yield
            return

        def tell() -> None:
            self._tell(self._labels.current())

        with _Lines(tell), _triton_lines(tell):
            yield
        self.end_label()

    def settle(self, stream: int) -> None:
        torch.cuda.current_stream(self._device).synchronize()

    def write_output(self, context: Context, to: torch.Tensor, value: torch.Tensor) -> None:
        with self._labels.output():
            to.copy_(value.detach())

    def capture(self, stream: int, run: Callable[[], Any], live_captures: int) -> Captured:
        """Records `run`, one pool for all graphs that live at one time, as engines share it."""
        if self._pool is None or live_captures == 0:
            self._pool = torch.cuda.graph_pool_handle()
        with torch.cuda.device(self._device):
            recorder = _Recorder(self._pool, self._stream(stream))
            recorder.begin()
            self._recorder = recorder
            try:
                with self.labelled(stream):
                    kept = run()
                recorder.end()
            except BaseException:
                recorder.give_up()
                raise
            finally:
                self._recorder = None
        return Captured(recorder.pieces, (recorder.graphs, kept))


def device_of(tensors: Sequence[torch.Tensor]) -> torch.device:
    devices = {tensor.device for tensor in tensors}
    if len(devices) > 1:
        raise ValueError(
            f"caches on {', '.join(sorted(str(d) for d in devices))}; a step's caches lie on one device"
        )
    return devices.pop()
