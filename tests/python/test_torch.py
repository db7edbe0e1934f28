"""torch's tensors: on the CPU with the host device, the CUDA code over a fake of torch.cuda, and on a GPU."""

import contextlib
import ctypes

import numpy as np
import pytest
from scene import DIM, PAGE_SIZE, PAGES, STEPS, TOKENS

import graphsan
from graphsan import _abi
from graphsan._batches import make_batches
from graphsan._step import HostedStep, Hooks

torch = pytest.importorskip("torch", reason="torch is not installed")


def put_rows(cache, rows, slots):
    live = (slots >= 0).unsqueeze(1)
    flat = cache.view(-1, DIM)
    safe = slots.clamp(min=0)
    flat[safe] = torch.where(live, rows, flat[safe])


class TorchScene:
    """As Scene. Page 0 is a null page, where the write sends pad lanes."""

    def __init__(self, device):
        generator = torch.Generator().manual_seed(5)
        self.cache = torch.zeros((PAGES, PAGE_SIZE, 1, DIM), dtype=torch.bfloat16, device=device)
        self.slots = [[(i + 1) * PAGE_SIZE + step for i in range(TOKENS)] for step in range(STEPS)]
        self.rows = [
            torch.randn((TOKENS, DIM), generator=generator).to(torch.bfloat16) for _ in range(STEPS)
        ]
        self.arguments = {
            "caches": {"key": graphsan.Cache(self.cache, sinks=[(0, PAGE_SIZE)])},
            "slot_mapping": self.slots,
            "inputs": {"rows": self.rows},
        }

    def step(self, ctx, rows, slot_mapping):
        ctx.launch(put_rows, self.cache, rows, slot_mapping)


def test_cpu_tensors_run_on_the_host_device():
    scene = TorchScene("cpu")
    report = graphsan.check(scene.step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert report.rows_compared == TOKENS * STEPS
    assert '"bf16"' in report.to_json()


def test_arrays_of_two_frameworks_are_refused():
    scene = TorchScene("cpu")
    counter = np.zeros(4, np.int32)
    for change in ({"opaque": {"n": counter}}, {"outputs": {"n": graphsan.Output(counter)}}):
        with pytest.raises(TypeError, match="`n`.* NumPy array, .*give a torch tensor on cpu"):
            graphsan.check(scene.step, **scene.arguments, **change)


def test_index_put_with_a_slot_of_minus_one_is_found_on_cpu_tensors():
    def index_put(cache, rows, slots):
        cache.view(-1, DIM)[slots] = rows

    scene = TorchScene("cpu")
    report = graphsan.check(
        lambda ctx, rows, slot_mapping: ctx.launch(index_put, scene.cache, rows, slot_mapping),
        **scene.arguments,
    )
    assert [f.mechanism for f in report.findings] == ["padding-write"]


class Layer(torch.nn.Module):
    """A step as engines write it: its forward names what it takes."""

    def __init__(self, cache):
        super().__init__()
        self.cache = cache

    def forward(self, rows, slot_mapping):
        Layer.launch(put_rows, self.cache, rows, slot_mapping)


def test_a_module_is_given_what_its_forward_names():
    scene, seen = TorchScene("cpu"), []

    class WithContext(Layer):
        def forward(self, ctx, rows, slot_mapping):
            seen.append(ctx.arm)
            ctx.launch(put_rows, self.cache, rows, slot_mapping)

    report = graphsan.check(WithContext(scene.cache), **scene.arguments)
    assert report.verdict == "agreed", report
    assert set(seen) == {"eager", "padded-eager", "graph"}
    Layer.launch = lambda *_: seen.append("without")
    report = graphsan.check(Layer(scene.cache), **scene.arguments)
    assert "launched nothing" in report.failure.what
    assert "without" in seen
    with pytest.raises(TypeError, match="takes no `weights`"):
        graphsan.check(
            Layer(scene.cache),
            **{**scene.arguments, "inputs": {"rows": scene.rows, "weights": scene.rows}},
        )


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_fp8_tensors_keep_their_dtype(dtype):
    scene = TorchScene("cpu")
    dtype = getattr(torch, dtype)
    both = torch.zeros((PAGES, 2, PAGE_SIZE, 1, DIM), dtype=torch.uint8).view(dtype)
    cache = both[:, 1]  # the value half of an interleaved cache

    def write(cache, rows, slots):
        stored = rows.to(cache.dtype).view(torch.uint8)
        for lane, slot in enumerate(slots.tolist()):
            if slot >= 0:
                cache.view(torch.uint8)[slot // PAGE_SIZE, slot % PAGE_SIZE, 0] = stored[lane]

    scene.arguments["caches"] = {"value": cache}
    report = graphsan.check(
        lambda ctx, rows, slot_mapping: ctx.launch(write, cache, rows, slot_mapping), **scene.arguments
    )
    assert report.verdict == "agreed", report
    assert report.rows_compared == TOKENS * STEPS
    assert ("fp8_e4m3" if "e4m3" in str(dtype) else "fp8_e5m2") in report.to_json()


def test_ops_on_cpu_tensors_that_are_not_launched_are_refused():
    scene = TorchScene("cpu")
    report = graphsan.check(
        lambda rows, slot_mapping: put_rows(scene.cache, rows, slot_mapping), **scene.arguments
    )
    assert report.exit_code == 4
    assert "ctx.launch" in report.failure.what


def test_tensors_and_arrays_together_are_refused(scene):
    scene.arguments["caches"] = {"key": scene.cache, "value": torch.zeros(4, 16, 1, 16)}
    with pytest.raises(ValueError, match="of different kinds"):
        graphsan.check(scene.step, **scene.arguments)
    scene.arguments["caches"] = {"key": scene.cache}
    scene.arguments["inputs"] = {"rows": [torch.zeros(TOKENS, DIM)] * STEPS}
    with pytest.raises(TypeError, match="NumPy arrays, or tensors"):
        graphsan.check(scene.step, **scene.arguments)


def test_a_sparse_tensor_is_refused():
    scene = TorchScene("cpu")
    scene.arguments["caches"] = {"key": scene.cache.view(-1, DIM).to_sparse()}
    with pytest.raises(TypeError, match="strided tensor"):
        graphsan.check(scene.step, **scene.arguments)


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


@pytest.fixture
def fake_cuda(monkeypatch):
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


def test_each_op_is_labelled_with_the_callers_line(fake_cuda):
    scene = TorchScene("cpu")
    driver = Driver(hosted(scene.step, scene))
    assert driver.run(0, _abi.EAGER) == 0, driver.host.failures
    labels = [label for label in driver.host.labels if label]
    assert labels and all("test_torch.py:" in label for label in labels)
    with open(__file__) as file:
        line = next(i for i, text in enumerate(file, 1) if "flat[safe] = torch.where" in text)
    assert any(label.endswith(f"test_torch.py:{line}") for label in labels)
    assert driver.host.labels[-1] is None


def test_breaks_make_segments_whose_ops_run_again_with_live_metadata(fake_cuda, monkeypatch):
    scene, seen = TorchScene("cpu"), []

    def step(ctx, rows, slot_mapping):
        total = rows.sum(1)
        ctx.eager_break(lambda: seen.append((ctx.step, ctx.metadata)), name="attention")
        put_rows(scene.cache, rows, slot_mapping)
        return total

    driver = Driver(hosted(step, scene))
    seen.clear()
    ends = []
    closing = torch.cuda.graph.__exit__

    def close(self, *error):
        ends.append(driver.host.labels[-1])
        closing(self, *error)

    monkeypatch.setattr(torch.cuda.graph, "__exit__", close)
    status, segments, handle = driver.capture(_abi.METADATA_NONE)
    assert status == 0, driver.host.failures
    assert seen == [(-1, None)]
    assert [(s.graph, s.exec, s.eager_name) for s in segments] == [
        (1000, 2000, b"attention"),
        (1001, 2001, None),
    ]
    assert [state for state, _ in fake_cuda] == ["open", "closed"] * 2
    assert len({id(pool) for _, pool in fake_cuda}) == 1
    assert ends == [None, None]  # each segment's last line ends while its stream captures
    live = driver.call(2, _abi.GRAPH)
    assert driver.table.prepare(1, ctypes.byref(live)) == 0
    assert segments[0].eager(None, 77) == 0
    step_number, metadata = seen[-1]
    assert step_number == 2
    assert metadata.slot_mapping.tolist() == [*scene.slots[2], -1]
    driver.table.release(1, handle)


def test_outputs_that_have_a_gradient_are_copied_without_it(fake_cuda):
    scene, weight = TorchScene("cpu"), torch.ones(DIM, dtype=torch.bfloat16, requires_grad=True)
    made = hosted(lambda rows, slot_mapping: rows * weight, scene)
    driver = Driver(made)
    assert driver.run(0, _abi.EAGER) == 0, driver.host.failures
    call = driver.call(0, _abi.EAGER)
    outputs, count = ctypes.POINTER(_abi.Output)(), ctypes.c_int32()
    assert driver.table.outputs(1, ctypes.byref(call), ctypes.byref(outputs), ctypes.byref(count)) == 0
    assert (count.value, outputs[0].name, outputs[0].dim) == (1, b"output", DIM)
    first = ctypes.c_uint16.from_address(outputs[0].data).value
    assert first == scene.rows[0].view(torch.int16)[0, 0].item() & 0xFFFF
    (buffer,) = made._outputs.returned_buffers("eager", TOKENS).values()
    assert not buffer.requires_grad


def test_an_exception_in_a_capture_ends_it_and_is_said(fake_cuda):
    scene = TorchScene("cpu")

    def step(ctx, rows, slot_mapping):
        if ctx.capturing:
            raise RuntimeError("operation not permitted when stream is capturing")
        put_rows(scene.cache, rows, slot_mapping)

    driver = Driver(hosted(step, scene))
    status, _, _ = driver.capture(_abi.METADATA_DUMMY)
    assert status != 0
    assert "not permitted" in driver.host.failures[-1] and "test_torch.py:" in driver.host.failures[-1]
    assert [state for state, _ in fake_cuda] == ["open", "closed"]


@pytest.mark.parametrize("raises", [True, False])
def test_a_spoiled_capture_gives_the_pool_back(fake_cuda, monkeypatch, raises):
    scene, ended = TorchScene("cpu"), []

    def refuse(_self, *_error):
        raise RuntimeError("capture was invalidated")

    monkeypatch.setattr(torch.cuda.graph, "__exit__", refuse)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    monkeypatch.setattr(
        torch._C, "_cuda_endAllocateToPool", lambda device, pool: ended.append(device), raising=False
    )

    def step(ctx, rows, slot_mapping):
        if ctx.capturing and raises:
            raise RuntimeError("operation not permitted when stream is capturing")
        put_rows(scene.cache, rows, slot_mapping)

    driver = Driver(hosted(step, scene))
    status, _, _ = driver.capture(_abi.METADATA_DUMMY)
    assert status != 0
    assert ("not permitted" if raises else "was invalidated") in driver.host.failures[-1]
    assert ended == [3]


def test_a_capture_of_the_callers_gives_its_graphs_and_what_runs_between(fake_cuda):
    scene = TorchScene("cpu")
    between = []

    def capture(ctx, run):
        assert ctx.capturing
        run()
        graph = FakeGraph(keep_graph=True)
        graph.instantiate()
        return [graphsan.Segment(11, 12), lambda: between.append(ctx.step), graphsan.Segment(13, 14)]

    driver = Driver(hosted(scene.step, scene, capture=capture))
    status, segments, _ = driver.capture(_abi.METADATA_DUMMY)
    assert status == 0, driver.host.failures
    assert [(s.graph, s.exec, bool(s.eager)) for s in segments] == [(11, 12, True), (13, 14, False)]
    assert segments[0].eager(None, 77) == 0
    assert between == [-1]


def test_a_capture_that_returns_something_else_is_refused(fake_cuda):
    scene = TorchScene("cpu")
    driver = Driver(hosted(scene.step, scene, capture=lambda ctx, run: 7))
    status, _, _ = driver.capture(_abi.METADATA_DUMMY)
    assert status != 0
    assert "torch.cuda.CUDAGraph objects" in driver.host.failures[-1]


def test_pad_lanes_get_minus_one_and_keep_an_earlier_batchs_activations(fake_cuda):
    scene, seen = TorchScene("cpu"), []

    def step(ctx, rows, slot_mapping):
        seen.append((rows.clone(), slot_mapping.clone(), rows.data_ptr(), slot_mapping.data_ptr()))

    driver = Driver(hosted(step, scene))
    for number in (0, 1):
        assert driver.run(number, _abi.PADDED_EAGER) == 0
    first, second = seen[-2:]
    assert first[2:] == second[2:]
    assert second[1].tolist() == [*scene.slots[1], -1]
    assert torch.equal(second[0][:TOKENS], scene.rows[1])
    assert torch.equal(second[0][TOKENS:], first[0][TOKENS:]) and second[0][TOKENS:].abs().sum() > 0
    assert np.prod(second[0].shape) == 4 * DIM


def test_opaque_tensors_are_put_back_by_a_reset(fake_cuda):
    scene, counter = TorchScene("cpu"), torch.full((1,), 5.0)

    def step(rows, slot_mapping):
        counter.add_(1)

    driver = Driver(hosted(step, scene, opaque={"counter": counter}))
    assert driver.run(0, _abi.EAGER) == 0
    assert counter.item() > 5
    assert driver.table.reset(1, 77) == 0
    assert counter.item() == 5


def test_the_first_call_waits_for_the_copies_of_what_it_changes(fake_cuda, monkeypatch):
    scene, counter, order = TorchScene("cpu"), torch.zeros(1), []
    made = hosted(lambda rows, slot_mapping: order.append("step"), scene, opaque={"counter": counter})
    clone = made._backend.memory.clone

    def noted(value):
        order.append("copy of state" if value is counter else "copy")
        return clone(value)

    monkeypatch.setattr(made._backend.memory, "clone", noted)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: order.append("wait"))
    Driver(made)
    assert order.index("copy of state") < order.index("wait") < order.index("step")


def test_a_torch_that_keeps_its_graphs_to_itself_is_told_of_at_once(fake_cuda, monkeypatch):
    class OldGraph:
        """As of torch 2.8."""

    monkeypatch.setattr(torch.cuda, "CUDAGraph", OldGraph)
    scene = TorchScene("cpu")
    match = r"torch \S+ does not show the graphs .*: use torch 2.9 or later"
    with pytest.raises(graphsan.GraphSanError, match=match):
        hosted(scene.step, scene)
    driver = Driver(hosted(scene.step, scene, capture=lambda ctx, run: graphsan.Segment(11, 12)))
    assert driver.capture(_abi.METADATA_DUMMY)[0] == 0, driver.host.failures
    driver = Driver(hosted(scene.step, scene, capture=lambda ctx, run: OldGraph()))
    assert driver.capture(_abi.METADATA_DUMMY)[0] != 0
    assert "2.9 or later" in driver.host.failures[-1]
