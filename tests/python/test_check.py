"""check() on the host device: what is found, and what is said."""

import weakref

import numpy as np
import pytest
from scene import DIM, PAGE_SIZE, PAGES, STEPS, TOKENS, line_of, mechanisms, sum_rows, wrap_rows, write_rows

import graphsan


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


def test_the_callers_cache_is_left_as_it_was(scene):
    scene.cache[:] = 7
    graphsan.check(scene.step, **scene.arguments)
    assert (scene.cache == 7).all()


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
