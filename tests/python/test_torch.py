"""torch's tensors on the CPU, with the host device."""

import numpy as np
import pytest
from scene import DIM, PAGE_SIZE, PAGES, STEPS, TOKENS

import graphsan

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch_scene import TorchScene, put_rows  # noqa: E402


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


def test_a_launched_module_that_holds_a_cache_is_refused():
    class Write(torch.nn.Module):
        def __init__(self, cache):
            super().__init__()
            self.register_buffer("cache", cache)

        def forward(self, rows, slots):
            put_rows(self.cache, rows, slots)

    class WriteGiven(Write):
        def forward(self, cache, rows, slots):
            put_rows(cache, rows, slots)

    scene = TorchScene("cpu")
    for module, given in ((Write(scene.cache), []), (WriteGiven(scene.cache), [scene.cache])):
        report = graphsan.check(
            lambda ctx, rows, slot_mapping: ctx.launch(module, *given, rows, slot_mapping),
            **scene.arguments,
        )
        if given:
            assert report.verdict == "agreed", report
        else:
            assert "Write uses `self.cache`, and that is declared (key)" in report.failure.what
