"""A fake of torch.cuda, and of the library that calls a step over it. Needs torch."""

import contextlib
import ctypes

import torch
from scene import TOKENS

from graphsan import _abi
from graphsan._batches import make_batches
from graphsan._step import Hooks, HostedStep


class FakeGraph:
    """Notes what is captured in place of torch.cuda.CUDAGraph."""

    made = []

    def __init__(self, keep_graph=False):
        assert keep_graph
        self.instantiated = False
        FakeGraph.made.append(self)

    def instantiate(self):
        self.instantiated = True

    def raw_cuda_graph(self):
        return 1000 + FakeGraph.made.index(self)

    def raw_cuda_graph_exec(self):
        assert self.instantiated
        return 2000 + FakeGraph.made.index(self)


class FakeHost:
    """The library's side of the ABI, as far as a step uses it on CUDA."""

    def __init__(self):
        self.failures, self.labels = [], []
        types = dict(_abi.Host._fields_)
        self._callbacks = {
            "fail": types["fail"](lambda _host, why: self.failures.append(why.decode())),
            "label": types["label"](
                lambda _host, _stream, text: self.labels.append(text.decode() if text else None)
            ),
        }
        self.struct = _abi.Host(struct_size=ctypes.sizeof(_abi.Host), is_cuda=1, **self._callbacks)


def replace_cuda(monkeypatch):
    """Returns a list of what is captured: ("open" or "closed", pool)."""

    class Stream:
        cuda_stream = 77

        def synchronize(self):
            pass

    def nothing(*_args, **_kwargs):
        return contextlib.nullcontext()

    captures = []

    class Capture:
        def __init__(self, graph, pool, stream, capture_error_mode):
            self.graph, self.pool = graph, pool

        def __enter__(self):
            assert not any(one == "open" for one, _ in captures[-1:])
            captures.append(("open", self.pool))

        def __exit__(self, *_error):
            captures.append(("closed", self.pool))

    FakeGraph.made = []
    monkeypatch.setattr(torch.cuda, "CUDAGraph", FakeGraph)
    monkeypatch.setattr(torch.cuda, "graph", Capture)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", object)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda *_: Stream())
    for name in ("ExternalStream", "Stream", "stream", "device"):
        monkeypatch.setattr(torch.cuda, name, nothing)
    return captures


def hosted(step, scene, opaque=None, **hooks):
    named = {"key": scene.arguments["caches"]["key"]}
    return HostedStep(
        step=step,
        name="step",
        caches=named,
        batches=make_batches(None, scene.slots, None, scene.arguments["inputs"], None, None, None),
        outputs={},
        opaque=opaque or {},
        hooks=Hooks(**{**dict.fromkeys(Hooks._fields), **hooks}),
        pad_values={},
        dummy={},
        cuda_device=torch.device("cpu"),
        tensors=True,
        source_lines=True,
    )


class Driver:
    """Calls a step's table as the library does."""

    def __init__(self, made):
        self.table, self.host = made.table, FakeHost()
        made_self = ctypes.c_void_p()
        assert self.table.create(ctypes.pointer(self.host.struct), b"", ctypes.byref(made_self)) == 0

    def call(self, step, arm, metadata=_abi.METADATA_LIVE):
        return _abi.Call(ctypes.sizeof(_abi.Call), step, arm, TOKENS if step >= 0 else 4, 4, metadata, 0, 77)

    def run(self, step, arm):
        call = self.call(step, arm)
        assert self.table.prepare(1, ctypes.byref(call)) == 0, self.host.failures
        return self.table.run(1, ctypes.byref(call))

    def capture(self, metadata):
        call = self.call(-1, _abi.GRAPH, metadata)
        assert self.table.prepare(1, ctypes.byref(call)) == 0, self.host.failures
        segments = ctypes.POINTER(_abi.Segment)()
        count, handle = ctypes.c_int32(), ctypes.c_void_p()
        status = self.table.capture(
            1, ctypes.byref(call), ctypes.byref(segments), ctypes.byref(count), ctypes.byref(handle)
        )
        return status, [segments[i] for i in range(count.value)], handle.value
