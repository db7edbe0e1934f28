"""check() on the host device: what is found, and what is said."""

import traceback
import weakref

import numpy as np
import pytest
from scene import DIM, PAGE_SIZE, PAGES, STEPS, TOKENS, sum_rows, wrap_rows, write_rows

import graphsan


def line_of(function, text):
    """Number of the line of a function's source that holds `text`."""
    lines = function.__code__.co_firstlineno
    with open(function.__code__.co_filename) as file:
        for number, line in enumerate(file, 1):
            if number >= lines and text in line:
                return number
    raise AssertionError(text)


def mechanisms(report):
    return [(f.mechanism, f.status) for f in report.findings]


def test_a_sound_step_agrees_with_every_named_row_compared(scene):
    report = graphsan.check(scene.step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert report.exit_code == 0
    assert report.device == "host"
    assert report.rows_compared == TOKENS * STEPS
    assert report.replays == STEPS
    assert report.findings == []


def test_a_write_that_returns_without_metadata_is_elided_and_its_line_named(scene):
    def step(ctx, rows, slot_mapping):
        if ctx.metadata is not None:
            ctx.launch(write_rows, scene.cache, rows, slot_mapping)
        ctx.launch(sum_rows, np.zeros(4, np.float32), scene.cache, slot_mapping)

    report = graphsan.check(step, capture_metadata="none", **scene.arguments)
    assert report.verdict == "diverged", report
    assert mechanisms(report) == [("elided-write", "confirmed")]
    (finding,) = report.findings
    assert finding.source.endswith(f"test_check.py:{line_of(step, 'ctx.launch(write')}")
    assert finding.where[0].kernel == "write_rows"
    written = {(slot // PAGE_SIZE, slot % PAGE_SIZE) for step in scene.slots for slot in step}
    assert set(finding.where[0].rows) == written
    assert graphsan.check(step, capture_metadata="dummy", **scene.arguments).verdict == "agreed"


def test_a_step_that_launches_nothing_at_capture_is_told_so(scene):
    def step(ctx, rows, slot_mapping):
        if ctx.metadata is None:
            return
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)

    report = graphsan.check(step, capture_metadata="none", **scene.arguments)
    assert report.verdict == "diverged"
    assert [(f.mechanism, f.status) for f in report.findings] == [("elided-write", "confirmed")]
    assert "captured with no metadata" in report.explain()
    assert graphsan.check(scene.step, **scene.arguments).notes == []


def test_a_line_that_was_typed_into_a_notebook_is_named(scene):
    scope = {"wrap_rows": wrap_rows, "cache": scene.cache}
    cell = "def step(ctx, rows, slot_mapping):\n    ctx.launch(wrap_rows, cache, rows, slot_mapping)\n"
    exec(compile(cell, "<ipython-input-3>", "exec"), scope)
    report = graphsan.check(scope["step"], **scene.arguments)
    assert report.findings[0].source == "<ipython-input-3>:2"


def test_a_slot_of_minus_one_taken_as_the_last_row_is_a_padding_write(scene):
    def step(ctx, rows, slot_mapping):
        ctx.launch(wrap_rows, scene.cache, rows, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    # Its experiment needs a batch of another size, which a callable's batches do not offer.
    assert mechanisms(report) == [("padding-write", "suspected")]
    assert report.findings[0].where[0].rows == ((PAGES - 1, PAGE_SIZE - 1),)
    assert graphsan.check(step, bucket=TOKENS, **scene.arguments).verdict == "agreed"


def test_a_number_passed_by_value_is_frozen_and_its_parameter_named(scene):
    def write_count(cache, rows, slots, count):
        write_rows(cache, rows[:count], slots[:count])

    def step(ctx, rows, slot_mapping, count):
        ctx.launch(write_count, scene.cache, rows, slot_mapping, count)

    scene.arguments["inputs"]["count"] = [1, 2, 3, 3]
    for i, count in enumerate([1, 2, 3, 3]):
        scene.slots[i][count:] = [-1] * (TOKENS - count)
    report = graphsan.check(step, **scene.arguments)
    assert mechanisms(report) == [("frozen-scalar", "confirmed")]
    assert "count" in str(report.findings[0])


def test_a_number_that_a_closure_holds_is_frozen_as_an_argument_is(scene):
    def step(ctx, rows, slot_mapping, count):
        def write_count():
            write_rows(scene_cache, rows[:count], slot_mapping[:count])

        ctx.launch(write_count)

    scene_cache = scene.cache
    scene.arguments["inputs"]["count"] = [1, 2, 3, 3]
    for i, count in enumerate([1, 2, 3, 3]):
        scene.slots[i][count:] = [-1] * (TOKENS - count)
    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "diverged", report
    assert "count" in report.explain()


def test_a_default_of_a_keyword_is_that_of_the_function_launched(scene):
    written = []

    def step(ctx, rows, slot_mapping, count):
        def write(cache, rows, slots, *, scale=count):
            written.append(scale)
            write_rows(cache, rows * scale, slots)

        ctx.launch(write, scene.cache, rows, slot_mapping)

    scene.arguments["inputs"]["count"] = [1, 2, 3, 4]
    report = graphsan.check(step, **scene.arguments)
    assert set(written) == {1, 2, 3, 4}
    assert report.verdict == "diverged", report
    scene.arguments["inputs"]["count"] = [2.0] * STEPS
    assert graphsan.check(step, **scene.arguments).verdict == "agreed"


def test_a_buffer_that_is_replaced_after_capture_is_a_moved_buffer(scene):
    def prepare(rows, slot_mapping):
        padded = np.full(4, -1, np.int64)
        padded[: len(slot_mapping)] = slot_mapping
        return {"rows": np.resize(rows, (4, DIM)), "slot_mapping": padded}

    report = graphsan.check(scene.step, prepare=prepare, **scene.arguments)
    assert report.verdict == "diverged", report
    assert "moved-buffer" in [f.mechanism for f in report.findings]


def test_an_array_that_python_computes_beside_a_launch_is_a_moved_buffer(scene):
    def write(cache, scaled, slots):
        live = slots >= 0
        cache.reshape(-1, cache.shape[-1])[slots[live]] = scaled[live]

    def step(ctx, rows, slot_mapping):
        ctx.launch(write, scene.cache, rows * 2, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "diverged"
    (finding,) = report.findings
    assert (finding.mechanism, finding.status) == ("moved-buffer", "confirmed")
    assert finding.summary.startswith("scaled of write is computed outside of the captured work")
    assert "Compute it inside the captured work" in finding.fix


def test_scratch_memory_that_is_fresh_in_each_call_is_no_finding(scene):
    def double(scratch, rows):
        scratch[...] = rows * 2

    def write(cache, scratch, slots):
        live = slots >= 0
        cache.reshape(-1, cache.shape[-1])[slots[live]] = scratch[live]

    def wrapped(cache, scratch, slots):
        cache.reshape(-1, cache.shape[-1])[slots] = scratch

    def step_with(body):
        def step(ctx, rows, slot_mapping):
            scratch = np.empty_like(rows)
            ctx.launch(double, scratch, rows)
            ctx.launch(body, scene.cache, scratch, slot_mapping)

        return step

    assert graphsan.check(step_with(write), **scene.arguments).verdict == "agreed"
    report = graphsan.check(step_with(wrapped), **scene.arguments)
    assert [finding.mechanism for finding in report.findings] == ["padding-write"]


def test_an_engine_that_refills_its_own_buffers_agrees(scene):
    slots, rows_buffer = np.full(4, -1, np.int64), np.ones((4, DIM), np.float32)

    def prepare(ctx, rows, slot_mapping):
        lanes = len(slot_mapping)
        slots[:] = -1
        slots[:lanes] = slot_mapping
        rows_buffer[:lanes] = rows
        return {"values": rows_buffer[: ctx.lanes], "places": slots[: ctx.lanes]}

    def step(ctx, values, places):
        scene.step(ctx, values, places)

    assert graphsan.check(step, prepare=prepare, **scene.arguments).verdict == "agreed"


def test_outputs_that_a_step_returns_are_compared(scene):
    def step(ctx, rows, slot_mapping):
        sums = np.zeros(ctx.lanes, np.float32)
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)
        if ctx.capturing:
            return {"sums": sums}
        ctx.launch(sum_rows, sums, scene.cache, slot_mapping)
        return {"sums": sums}

    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "diverged", report
    assert mechanisms(report) == [("moved-buffer", "confirmed")]
    assert [place.cache for place in report.findings[0].where] == ["output"]


def test_an_output_that_is_written_into_a_buffer_of_the_callers_is_compared(scene):
    sums = np.zeros(4, np.float32)

    def step(ctx, rows, slot_mapping):
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)
        ctx.launch(sum_rows, sums, scene.cache, slot_mapping)

    outputs = {"sums": graphsan.Output(sums)}
    assert graphsan.check(step, outputs=outputs, **scene.arguments).verdict == "agreed"


def test_what_a_step_returns_beside_a_declared_buffer_is_compared(scene):
    sums = np.zeros(4, np.float32)

    def step(ctx, rows, slot_mapping):
        counts = np.zeros(ctx.lanes, np.float32)
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)
        ctx.launch(sum_rows, sums, scene.cache, slot_mapping)
        if not (faulty and ctx.capturing):
            ctx.launch(sum_rows, counts, scene.cache, slot_mapping)
        return {"sums": sums[: ctx.lanes], "counts": counts}

    outputs = {"sums": graphsan.Output(sums)}
    faulty = False
    report = graphsan.check(step, outputs=outputs, **scene.arguments)
    assert report.verdict == "agreed", report
    faulty = True
    report = graphsan.check(step, outputs=outputs, **scene.arguments)
    assert report.verdict == "diverged", report
    assert [place.cache for f in report.findings for place in f.where] == ["output"]


@pytest.mark.parametrize("returned", ["three", {"sums": np.zeros(4, np.float32)}, {"n": 3}])
def test_what_a_step_returns_and_cannot_be_compared_is_refused(scene, returned):
    def step(ctx, rows, slot_mapping):
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)
        return returned

    outputs = {"sums": graphsan.Output(np.zeros(4, np.float32))}
    report = graphsan.check(step, outputs=outputs, **scene.arguments)
    assert report.exit_code == 4, report
    assert "returned" in report.failure.what


def test_state_that_lives_on_must_be_declared_to_be_put_back(scene):
    counter = np.array([5.0], np.float32)

    def count(counter, rows, cache, slots):
        write_rows(cache, rows + counter, slots)
        counter += 1

    def step(ctx, rows, slot_mapping):
        ctx.launch(count, counter, rows, scene.cache, slot_mapping)

    assert graphsan.check(step, opaque={"counter": counter}, **scene.arguments).verdict == "agreed"
    assert counter[0] == 5.0
    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "inconclusive", report
    assert mechanisms(report) == [("unstable-eager", "confirmed")]
    assert counter[0] > 5.0


def test_an_op_that_breaks_the_graph_sees_live_metadata_at_each_replay(scene):
    seen = []

    def step(ctx, rows, slot_mapping):
        def insert():
            seen.append((ctx.step, ctx.metadata is not None))
            if ctx.metadata is not None:
                ctx.launch(write_rows, scene.cache, rows, slot_mapping)

        ctx.eager_break(insert)
        ctx.launch(wrap_rows, np.zeros((PAGES, PAGE_SIZE, 1, DIM), np.float32), rows, slot_mapping)

    report = graphsan.check(step, capture_metadata="none", **scene.arguments)
    assert report.verdict == "agreed", report
    assert (-1, False) in seen and {(step, True) for step in range(STEPS)} <= set(seen)


def test_the_arms_get_exact_and_padded_arrays(scene):
    seen = set()

    def step(ctx, rows, slot_mapping):
        seen.add((ctx.arm, len(rows), len(slot_mapping), ctx.lanes))
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)

    graphsan.check(step, bucket=8, **scene.arguments)
    assert seen == {("eager", 3, 3, 3), ("padded-eager", 8, 8, 8), ("graph", 8, 8, 8)}


def test_pad_lanes_of_a_smaller_batch_name_no_row(scene):
    counts = [3, 1, 2, 3]
    scene.arguments["slot_mapping"] = [s[:count] for s, count in zip(scene.slots, counts)]
    scene.arguments["inputs"] = {"rows": [r[:count] for r, count in zip(scene.rows, counts)]}
    pads = []

    def step(ctx, rows, slot_mapping):
        if ctx.arm == "padded-eager":
            pads.append(slot_mapping[ctx.tokens :].tolist())
        scene.step(ctx, rows, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert report.rows_compared == sum(counts)
    assert pads == [[-1] * (4 - count) for count in counts]


@pytest.mark.parametrize("layout", ["NHD", "HND"])
def test_strided_caches_of_several_heads_are_compared_head_by_head(scene, layout):
    both = np.zeros((PAGES, 2, 2, PAGE_SIZE, DIM), np.float32)
    caches = {}
    for i, kind in enumerate(("key", "value")):
        part = both[:, i]
        caches[kind] = graphsan.Cache(
            part if layout == "HND" else part.transpose(0, 2, 1, 3), kind=kind, layout=layout
        )

    def write_both(key, value, rows, slots):
        for row, slot in zip(rows, slots):
            if slot >= 0:
                key[slot // PAGE_SIZE, :, slot % PAGE_SIZE] = row
                value[slot // PAGE_SIZE, :, slot % PAGE_SIZE] = -row

    def step(ctx, rows, slot_mapping):
        ctx.launch(write_both, both[:, 0], both[:, 1], rows, slot_mapping)

    scene.arguments["caches"] = caches
    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert report.rows_compared == 2 * TOKENS * STEPS


def test_a_cache_of_bytes_can_be_named_fp8(scene):
    cache = np.zeros((PAGES, PAGE_SIZE, 1, DIM), np.uint8)

    def step(ctx, rows, slot_mapping):
        ctx.launch(write_rows, cache, rows, slot_mapping)

    scene.arguments["caches"] = {"key": graphsan.Cache(cache, dtype="fp8_e4m3")}
    scene.arguments["inputs"] = {"rows": [np.abs(r * 20).astype(np.uint8) for r in scene.rows]}
    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert (
        '"kv_dtype": "fp8_e4m3"' in report.to_json() or '"kv_dtype":"fp8_e4m3"' in report.to_json()
    )


def test_what_a_step_raises_is_in_the_report_with_phase_step_and_line(scene):
    def step(ctx, rows, slot_mapping):
        if ctx.step == 2:
            raise KeyError("sequence 7")
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert (report.verdict, report.exit_code) == ("inconclusive", 4)
    assert report.failure.step == 2
    assert report.failure.phase
    assert "KeyError: 'sequence 7'" in report.failure.what
    assert f"test_check.py:{line_of(step, 'raise KeyError')} in step" in report.failure.what
    assert isinstance(report.exception, KeyError)
    frames = [frame for frame, _ in traceback.walk_tb(report.exception.__traceback__)]
    assert [frame.f_code.co_name for frame in frames] == ["step"]
    assert frames[0].f_locals["ctx"].arm == "eager"


def test_what_a_launched_function_raises_is_in_the_report(scene):
    def broken(cache, slots):
        cache[99, 0, 0] = slots[0]

    def step(ctx, rows, slot_mapping):
        ctx.launch(broken, scene.cache, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert report.exit_code == 4
    assert "broken" in report.failure.what and "IndexError" in report.failure.what
    frames = list(traceback.walk_tb(report.exception.__traceback__))
    assert [frame.f_code.co_name for frame, _ in frames] == ["broken"]
    assert "cache" not in frames[0][0].f_locals  # its memory is gone


def test_a_keyboard_interrupt_ends_the_check(scene):
    def step(ctx, rows, slot_mapping):
        if ctx.step == 1:
            raise KeyboardInterrupt
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)

    with pytest.raises(KeyboardInterrupt):
        graphsan.check(step, **scene.arguments)


def test_numpy_work_that_is_not_launched_is_refused(scene):
    def step(rows, slot_mapping):
        write_rows(scene.cache, rows, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert report.exit_code == 4
    assert "ctx.launch" in report.failure.what


def test_a_step_that_writes_nothing_is_wrong_everywhere(scene):
    def nothing(slots):
        pass

    def step(ctx, rows, slot_mapping):
        ctx.launch(nothing, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "diverged", report
    assert mechanisms(report) == [("wrong-everywhere", "confirmed")]


def test_inputs_that_never_change_prove_nothing(scene):
    scene.arguments["slot_mapping"] = [scene.slots[0]] * STEPS
    scene.arguments["inputs"] = {"rows": [scene.rows[0]] * STEPS}
    assert graphsan.check(scene.step, **scene.arguments).verdict == "inconclusive"


def test_history_is_written_before_step_0(scene):
    def history(ctx):
        ctx.launch(
            write_rows, scene.cache, np.ones((1, DIM), np.float32), np.array([PAGE_SIZE * 3])
        )

    def step(ctx, rows, slot_mapping, old):
        def add(cache, rows, slots, old):
            write_rows(cache, rows + cache[3, 0, 0], slots)

        ctx.launch(add, scene.cache, rows, slot_mapping, old)

    scene.arguments["inputs"]["old"] = [np.zeros(TOKENS, np.int64)] * STEPS
    assert graphsan.check(step, history=history, **scene.arguments).verdict == "agreed"


def test_the_seed_order_and_the_recording_are_handed_over(scene, tmp_path):
    file = tmp_path / "run.graphsan"
    graphsan.check(scene.step, record=file, seed=3, **scene.arguments)
    assert file.read_bytes().startswith(b"SQLite format 3")


def test_blocks_that_an_indexer_selects_are_compared_as_sets(scene):
    def select(blocks, slots, reverse):
        chosen = [[0, 1], [1, 2], [2, 3], [3, 0]]
        for lane in range(len(slots)):
            blocks[lane, 0] = chosen[lane][::-1] if reverse else chosen[lane]

    def wrong(blocks, slots):
        blocks[:, 0] = [0, 2]

    def step(ctx, rows, slot_mapping, fault=None):
        blocks = np.zeros((ctx.lanes, 1, 2), np.int32)
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)
        if ctx.capturing and faulty:
            ctx.launch(wrong, blocks, slot_mapping)
        else:
            ctx.launch(select, blocks, slot_mapping, ctx.capturing)
        return {"blocks": blocks}

    scene.arguments["outputs"] = {"blocks": graphsan.Output(kind="top-k", block_size=PAGE_SIZE)}
    faulty = False
    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert report.findings == []
    faulty = True
    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "diverged", report
    assert mechanisms(report) == [("moved-buffer", "confirmed")]
    assert [place.cache for place in report.findings[0].where] == ["top-k"]


def test_a_batch_that_the_engine_runs_without_a_graph_is_listed_as_not_covered(scene):
    batches = [
        graphsan.Batch(slots, {"rows": rows}, eager_reason="too long" if step == 3 else None)
        for step, (slots, rows) in enumerate(zip(scene.slots, scene.rows))
    ]
    report = graphsan.check(scene.step, scene.arguments["caches"], batches=batches)
    assert report.replays == STEPS - 1
    assert "too long" in str(report)


def test_index_keys_have_a_slot_mapping_of_their_own(scene):
    index = np.zeros((PAGES, PAGE_SIZE, 1, DIM), np.float32)

    def step(ctx, rows, slot_mapping, index_slot_mapping):
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)
        ctx.launch(write_rows, index, rows, index_slot_mapping)

    scene.arguments["caches"] = {"key": scene.cache, "index": graphsan.Cache(index, "index-key")}
    other = [[slot + 4 for slot in step] for step in scene.slots]
    report = graphsan.check(step, index_slot_mapping=other, **scene.arguments)
    assert report.verdict == "agreed", report
    assert report.rows_compared == 2 * TOKENS * STEPS


def test_a_step_can_take_the_caches_by_their_names(scene):
    def step(ctx, key, rows, slot_mapping):
        assert key is scene.cache
        ctx.launch(write_rows, key, rows, slot_mapping)

    assert graphsan.check(step, **scene.arguments).verdict == "agreed"


def test_the_callers_cache_is_left_as_it_was(scene):
    scene.cache[:] = 7
    graphsan.check(scene.step, **scene.arguments)
    assert (scene.cache == 7).all()


def test_a_stray_write_past_a_cache_lands_in_a_guard_zone(scene):
    def write_behind(cache, rows, slots):
        write_rows(cache, rows, slots)
        behind = np.lib.stride_tricks.as_strided(cache, (PAGES + 1, PAGE_SIZE, 1, DIM), cache.strides)
        behind[PAGES, 0, 0, :4] = len(slots)

    def step(ctx, rows, slot_mapping):
        ctx.launch(write_behind, scene.cache, rows, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "diverged", report
    # Eager strays as well, but for the number of lanes that it writes there.
    assert mechanisms(report) == [("padding-write", "suspected")]
    assert [place.cache for place in report.findings[0].where] == ["guard"]


def test_nothing_of_a_check_is_kept_once_it_has_ended(scene):
    class Held:
        pass

    held = Held()
    gone = weakref.ref(held)

    def step(ctx, rows, slot_mapping, held=held):
        ctx.launch(write_rows, scene.cache, rows, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    del step, held
    assert gone() is None
    assert report.verdict == "agreed"


def test_a_capture_is_given_dummy_numbers_and_pad_values(scene):
    seen = []

    def step(ctx, rows, slot_mapping, lengths, count):
        seen.append((ctx.step, ctx.arm, ctx.capturing, count, lengths.tolist()))
        scene.step(ctx, rows, slot_mapping)

    scene.arguments["inputs"].update(count=[5, 6, 7, 8], lengths=[[1, 2, 3]] * STEPS)
    graphsan.check(step, dummy={"count": 99}, pad_values={"lengths": -7}, **scene.arguments)
    assert (-1, "graph", True, 99, [-7, -7, -7, -7]) in seen
    assert (2, "padded-eager", False, 7, [1, 2, 3, -7]) in seen
    assert (2, "eager", False, 7, [1, 2, 3]) in seen
