"""The CUDA code, over a fake of torch.cuda."""

import ctypes

import numpy as np
import pytest
from scene import DIM, TOKENS

import graphsan
from graphsan import _abi

torch = pytest.importorskip("torch", reason="torch is not installed")
import torch_scene  # noqa: E402
from fake_cuda import Driver, FakeGraph, hosted, replace_cuda  # noqa: E402
from torch_scene import TorchScene, put_rows  # noqa: E402


@pytest.fixture
def fake_cuda(monkeypatch):
    return replace_cuda(monkeypatch)


def test_each_op_is_labelled_with_the_callers_line(fake_cuda):
    scene = TorchScene("cpu")
    driver = Driver(hosted(scene.step, scene))
    assert driver.run(0, _abi.EAGER) == 0, driver.host.failures
    labels = [label for label in driver.host.labels if label]
    assert labels and all("torch_scene.py:" in label for label in labels)
    with open(torch_scene.__file__) as file:
        line = next(i for i, text in enumerate(file, 1) if "flat[safe] = torch.where" in text)
    assert any(label.endswith(f"torch_scene.py:{line}") for label in labels)
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
    assert "not permitted" in driver.host.failures[-1] and "test_torch_cuda.py:" in driver.host.failures[-1]
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
