"""Functions that a step launches: what goes by address, what by value, and what is not launched."""

import numpy as np
from scene import DIM, PAGE_SIZE, PAGES, STEPS, TOKENS, mechanisms, write_rows

import graphsan


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


def test_numpy_work_that_is_not_launched_is_refused(scene):
    def step(rows, slot_mapping):
        write_rows(scene.cache, rows, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert report.exit_code == 4
    assert "ctx.launch" in report.failure.what


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


def test_a_step_that_writes_nothing_is_wrong_everywhere(scene):
    def nothing(slots):
        pass

    def step(ctx, rows, slot_mapping):
        ctx.launch(nothing, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "diverged", report
    assert mechanisms(report) == [("wrong-everywhere", "confirmed")]


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
