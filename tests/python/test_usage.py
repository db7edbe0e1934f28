"""What is refused, and that the message says what to do."""

import functools
import sys
import types

import numpy as np
import pytest
from scene import DIM, PAGE_SIZE, PAGES, STEPS

import graphsan


def refused(scene, match, error=ValueError, step=None, **changes):
    arguments = {**scene.arguments, **changes}
    with pytest.raises(error, match=match):
        graphsan.check(step or scene.step, **arguments)


def test_a_step_that_is_no_function(scene):
    refused(scene, "give a function", TypeError, step=7)


def test_no_cache(scene):
    refused(scene, "name at least one array", caches={})


def test_a_cache_that_is_no_array(scene):
    refused(scene, r"graphsan\.Cache\(array", TypeError, caches={"key": [[0.0]]})


def test_a_cache_of_two_dimensions_without_a_page_size(scene):
    refused(scene, "page_size", caches={"key": np.zeros((64, DIM), np.float32)})


def test_a_cache_whose_elements_are_apart(scene):
    apart = np.zeros((PAGES, PAGE_SIZE, DIM, 2), np.float32)[..., 0]
    refused(scene, "side by side", caches={"key": apart})


def test_a_dtype_of_another_size(scene):
    refused(scene, "view the array", caches={"key": graphsan.Cache(scene.cache, dtype="bf16")})


@pytest.mark.parametrize(
    "change, match",
    [
        ({"kind": "keys"}, "key, value, index-key"),
        ({"layout": "DHN"}, "NHD"),
        ({"dtype": "fp8"}, "fp8_e4m3"),
        ({"sinks": [(60, 70)]}, "rows are 0 to 63"),
        ({"page_size": 8}, "leave page_size out"),
    ],
)
def test_a_cache_of_unknown_words(scene, change, match):
    refused(scene, match, caches={"key": graphsan.Cache(scene.cache, **change)})


def test_neither_slots_nor_batches(scene):
    refused(scene, "slot_mapping", slot_mapping=None, inputs=None)


def test_one_step(scene):
    refused(scene, "at least 2", slot_mapping=scene.slots[:1], inputs={"rows": scene.rows[:1]})


def test_a_slot_past_the_cache(scene):
    scene.slots[2][1] = 64
    refused(scene, "step 2 names row 64.*rows 0 to 63")


def test_a_bucket_below_the_tokens(scene):
    refused(scene, "3 tokens in a bucket of 2", bucket=2)


def test_an_input_with_another_number_of_lanes(scene):
    scene.rows[1] = scene.rows[1][:2]
    refused(scene, r"input `rows` of step 1 .* the lane")


def test_an_input_that_the_step_does_not_take(scene):
    refused(
        scene, "takes no `weights`", TypeError, inputs={"rows": scene.rows, "weights": scene.rows}
    )


def test_a_parameter_that_nothing_gives(scene):
    def step(ctx, rows, slot_mapping, table):
        pass

    refused(scene, "needs `table`, which nothing gives", TypeError, step=step)


def test_an_input_with_a_name_that_is_taken(scene):
    refused(scene, "choose another name", inputs={"slot_mapping": scene.rows, "rows": scene.rows})


def test_a_pad_value_for_what_is_no_input(scene):
    refused(scene, "`lengths` is no input", pad_values={"lengths": 1})
    refused(scene, "`index_slot_mapping` is no input", pad_values={"index_slot_mapping": 0})


def test_pad_values_and_dummy_numbers_of_the_wrong_kind(scene):
    lengths = [np.full(3, 7, np.uint8)] * STEPS
    inputs = {"rows": scene.rows, "count": [1] * STEPS, "lengths": lengths}

    def step(ctx, rows, slot_mapping, count, lengths):
        pass

    for changes, match, error in (
        ({"dummy": {"rows": 3}}, "dummy: `rows` is an array.*pad_values", TypeError),
        ({"dummy": {"slot_mapping": 3}}, "dummy: `slot_mapping` is an array.*pad_values", TypeError),
        ({"dummy": {"count": np.zeros(3)}}, "dummy: `count` is of type ndarray; give a number", TypeError),
        ({"dummy": [1]}, "dummy is of type list; give a dict", TypeError),
        ({"pad_values": {"count": 3}}, "pad_values: `count` is a number.*dummy", TypeError),
        ({"pad_values": {"lengths": 0.5}}, "`lengths` is 0.5; give a whole number", TypeError),
        ({"pad_values": {"lengths": -1}}, "`lengths` is -1; it can be 0 to 255", ValueError),
        ({"pad_values": {"lengths": lengths[0]}}, "give a whole number", TypeError),
        ({"pad_values": 3}, "pad_values is of type int; give a dict", TypeError),
    ):
        refused(scene, match, error, step=step, inputs=inputs, **changes)


@pytest.mark.parametrize(
    "changes, match, error",
    [
        ({"seed": 2**63}, "seed is 9223372036854775808; it can be 0 to 9223372036854775807", ValueError),
        ({"seed": -1}, "seed is -1", ValueError),
        ({"seed": 1.5}, "seed is 1.5; give a whole number", TypeError),
        ({"bucket": 4.5}, "bucket is of type float", TypeError),
        ({"bucket": [4, 4, 4.5, 4]}, "bucket of step 2 is 4.5; give a whole number", TypeError),
        ({"bucket": 2**40}, "bucket of step 0 is 1099511627776", ValueError),
        ({"bucket": [4]}, "bucket has 1 entries for 4 steps", ValueError),
        ({"sequences": [[0, 1, 2**31]] * STEPS}, "sequences of step 0: an entry.*2147483647", ValueError),
        ({"sequences": [[0, 1, -(2**32)]] * STEPS}, "sequences of step 0: an entry", ValueError),
        ({"slot_mapping": 7}, "slot_mapping is of type int", TypeError),
        ({"slot_mapping": [np.array([0, 1, 2**63], np.uint64)] * STEPS}, "slot_mapping", ValueError),
        ({"outputs": [1]}, "outputs is of type list; give a dict", TypeError),
        ({"opaque": np.zeros(3)}, "opaque is of type ndarray; give a dict", TypeError),
        ({"opaque": {3: np.zeros(3)}}, "opaque: the name 3 is no text", TypeError),
        ({"inputs": {1: [1] * STEPS}}, "inputs of step 0: the name 1 is no text", TypeError),
        ({"reset": 3}, "reset is of type int; give a function", TypeError),
        ({"capture_metadata": None}, "capture_metadata is None; give a text", TypeError),
        ({"name": 7}, "name is 7; give a text", TypeError),
    ],
)
def test_arguments_of_a_kind_or_size_that_makes_no_check(scene, changes, match, error):
    refused(scene, match, error, **changes)


def test_numbers_of_caches_and_outputs_that_the_library_has_no_room_for(scene):
    for change, match, error in (
        ({"layer": 2**31}, "layer is 2147483648; it can be 0 to 2147483647", ValueError),
        ({"layer": 0.5}, "layer is 0.5; give a whole number", TypeError),
        ({"page_size": 16.0}, "page_size is 16.0; give a whole number", TypeError),
        ({"sinks": [1.5]}, "a sink is 1.5; give a whole number", TypeError),
    ):
        refused(scene, match, error, caches={"key": graphsan.Cache(scene.cache, **change)})


def test_words_of_a_batch_are_texts(scene):
    for change, match in (({"kind": 3}, "kind"), ({"eager_reason": True}, "eager_reason")):
        batches = [graphsan.Batch(s, {"rows": r}, **change) for s, r in zip(scene.slots, scene.rows)]
        refused(
            scene, f"{match} of step 0 is", TypeError, slot_mapping=None, inputs=None, batches=batches
        )


@pytest.mark.parametrize("bucket", [np.int64(8), np.full(STEPS, 8), (8 for _ in range(STEPS)), {8: 1}])
def test_buckets_may_come_from_any_iterable(scene, bucket):
    if isinstance(bucket, dict):
        return refused(scene, "bucket has 1 entries", bucket=bucket)
    seen = set()

    def step(ctx, rows, slot_mapping):
        seen.add(ctx.bucket)
        scene.step(ctx, rows, slot_mapping)

    assert graphsan.check(step, bucket=bucket, **scene.arguments).verdict == "agreed"
    assert seen == {8}


def test_a_sink_may_be_a_number_of_numpys(scene):
    scene.arguments["caches"] = {"key": graphsan.Cache(scene.cache, sinks=np.arange(60, 64))}
    assert graphsan.check(scene.step, **scene.arguments).verdict == "agreed"


def test_a_parameter_that_goes_by_position_only(scene):
    def step(ctx, rows, /, slot_mapping):
        pass

    refused(scene, "takes `ctx` by position only.*called by keywords: drop the `/`", TypeError, step=step)


def test_a_step_of_positional_arguments_only(scene):
    refused(scene, r"takes only \*rest.*name its parameters", TypeError, step=lambda *rest: None)
    refused(
        scene,
        "needs `table`, which nothing gives",
        TypeError,
        step=lambda table, **rest: None,
    )


def test_a_step_of_any_keywords_gets_context_slots_and_inputs(scene):
    seen = set()

    def step(**given):
        seen.update(given)
        scene.step(given["ctx"], given["rows"], given["slot_mapping"])

    assert graphsan.check(step, **scene.arguments).verdict == "agreed"
    assert seen == {"ctx", "rows", "slot_mapping"}


def test_hooks_of_any_keywords_get_all_that_is_there(scene):
    seen = set()

    def prepare(**given):
        seen.update(given)
        rows = np.ones((given["ctx"].lanes, DIM), np.float32)
        rows[: len(given["rows"])] = given["rows"]
        slots = np.full(len(rows), -1)
        slots[: len(given["slot_mapping"])] = given["slot_mapping"]
        return {"values": rows, "places": slots}

    def step(**given):
        assert set(given) == {"ctx", "values", "places"}
        scene.step(given["ctx"], given["values"], given["places"])

    report = graphsan.check(step, prepare=prepare, bucket=3, **scene.arguments)
    assert report.failure is None, report
    assert seen == {"ctx", "rows", "slot_mapping"}


def test_a_decorated_step_is_called_as_the_one_inside(scene):
    @functools.wraps(scene.step)
    def step(*args, **given):
        return scene.step(*args, **given)

    assert graphsan.check(step, **scene.arguments).verdict == "agreed"
    assert graphsan.check(functools.partial(scene.step), **scene.arguments).verdict == "agreed"


def test_opaque_state_that_is_no_array_or_has_gaps(scene):
    refused(scene, "give an array", TypeError, opaque={"counter": 3})
    refused(scene, "give the whole array", opaque={"counter": np.zeros((4, 4))[:, 0]})


class FakeTensor:
    """As torch's, as far as it is looked at before a check is refused."""

    layout, device, dtype, shape = "strided", types.SimpleNamespace(type="cpu"), "torch.float32", (4,)

    def data_ptr(self):
        return 0

    def stride(self):
        return (1,)

    def element_size(self):
        return 4

    def is_floating_point(self):
        return True


def test_a_tensor_among_numpy_caches(scene, monkeypatch):
    torch = types.SimpleNamespace(Tensor=FakeTensor, strided="strided")
    monkeypatch.setitem(sys.modules, "torch", torch)
    match = "`n`.* is a torch tensor on .*give a NumPy array"
    refused(scene, match, TypeError, opaque={"n": FakeTensor()})
    refused(scene, match, TypeError, outputs={"n": graphsan.Output(FakeTensor())})


def test_an_output_whose_buffer_cannot_hold_it(scene):
    fixed = np.zeros(4, np.float32)
    fixed.flags.writeable = False
    for tensor, match, error in (
        (np.zeros(3, np.float32), "has 3 lanes.*at least 4 lanes", ValueError),
        (np.zeros((3, 4), np.float32), "at least 4 lanes", ValueError),
        (fixed, "read-only", ValueError),
        (np.zeros(5, np.float32)[::-1], "memory of its own", ValueError),
        ([0.0] * 4, "is of type list; give an array", TypeError),
    ):
        refused(scene, match, error, outputs={"sums": graphsan.Output(tensor)})
    refused(scene, r"graphsan\.Output\(", TypeError, outputs={"sums": np.zeros(4, np.float32)})


def test_inputs_for_fewer_steps(scene):
    refused(scene, f"entries for {STEPS} steps", inputs={"rows": scene.rows[:2]})


def test_unknown_words_of_options(scene):
    refused(scene, '"auto", "cuda" or "host"', device="gpu")
    refused(scene, "capture_metadata", capture_metadata="some")
    refused(scene, "capture_at", capture_at="now")


def test_a_capture_of_the_callers_on_the_host_device(scene):
    refused(scene, "capture= is for CUDA", capture=lambda ctx, run: run())


def test_a_recording_that_cannot_be_written(scene):
    refused(scene, "record", record="/nowhere/run.graphsan")


def test_a_launch_of_what_has_neither_address_nor_value(scene):
    def step(ctx, rows, slot_mapping):
        ctx.launch(print, {"rows": rows})

    report = graphsan.check(step, **scene.arguments)
    assert report.exit_code == 4
    assert "arrays, which go by address, and numbers" in report.failure.what


def test_cuda_where_there_is_none(scene):
    if graphsan.device_problem("cuda") is None:
        pytest.skip("there is a GPU")
    with pytest.raises(graphsan.NoDeviceError) as error:
        graphsan.check(scene.step, device="cuda", **scene.arguments)
    assert str(error.value) == graphsan.device_problem("cuda")
    assert "\n" not in str(error.value)


def test_host_arrays_for_cuda_where_there_is_one(scene):
    if graphsan.device_problem("cuda") is not None:
        pytest.skip(graphsan.device_problem("cuda"))
    refused(scene, r"tensor\.cuda\(\)", device="cuda")


@pytest.mark.parametrize("name", ["ctx", "slot_mapping", "index_slot_mapping"])
def test_a_cache_with_a_name_that_is_taken(scene, name):
    refused(scene, f"`{name}`.*choose another name", caches={name: scene.cache})


def test_names_that_are_one_in_a_report(scene):
    refused(scene, "give each a text of its own", caches={1: scene.cache, "1": scene.cache.copy()})
    for names in (["slot mapping"], ["my_rows", "my rows"]):
        refused(
            scene,
            "look alike",
            step=lambda **given: None,
            inputs={name: scene.rows for name in names},
        )


@pytest.mark.parametrize("at", [0, 2])
def test_index_slots_of_some_steps_alone(scene, at):
    batches = [
        graphsan.Batch(s, {"rows": r}, index_slot_mapping=s if i == at else None)
        for i, (s, r) in enumerate(zip(scene.slots, scene.rows))
    ]
    refused(scene, "in each, or in none", slot_mapping=None, inputs=None, batches=batches)
