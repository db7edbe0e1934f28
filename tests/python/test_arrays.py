"""Arrays that a launch, an output or prepare() names: where they lie, and what of them is refused."""

import numpy as np
import pytest
from scene import DIM, PAGE_SIZE, PAGES, STEPS, TOKENS, write_rows

import graphsan


def write_both(kv, rows, slots):
    for row, slot in zip(rows, slots):
        if slot >= 0:
            kv[0, slot // PAGE_SIZE, slot % PAGE_SIZE, 0] = row
            kv[-1, slot // PAGE_SIZE, slot % PAGE_SIZE, 0] = -row


def test_caches_that_touch_are_one_array_to_a_launch(scene):
    kv = np.zeros((2, PAGES, PAGE_SIZE, 1, DIM), np.float32)

    def step(ctx, rows, slot_mapping):
        ctx.launch(write_both, kv, rows, slot_mapping)

    scene.arguments["caches"] = {"key": kv[0], "value": kv[1]}
    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert report.rows_compared == 2 * TOKENS * STEPS


def test_an_array_that_is_declared_in_part_is_refused(scene):
    kv = np.zeros((3, PAGES, PAGE_SIZE, 1, DIM), np.float32)
    launched = kv

    def step(ctx, rows, slot_mapping):
        ctx.launch(write_both, launched, rows, slot_mapping)

    for declared in ({"key": kv[0], "value": kv[2]}, {"key": kv[2]}):
        report = graphsan.check(step, **{**scene.arguments, "caches": declared})
        assert report.exit_code == 4, report
        assert "write_both: argument `kv`" in report.failure.what
        assert "declare the rest of it" in report.failure.what
    caches = {"key": kv[0], "value": kv[2]}
    report = graphsan.check(step, **{**scene.arguments, "caches": caches}, opaque={"rest": kv[1]})
    assert report.verdict == "agreed", report
    launched = kv[:1]
    assert graphsan.check(step, **{**scene.arguments, "caches": {"key": kv[1]}}).exit_code != 4


def test_an_input_that_is_declared_in_part_is_refused(scene):
    slots, state = np.full(4, -1, np.int64), np.zeros(4, np.float32)

    def prepare(ctx, rows, slot_mapping):
        slots[:] = -1
        slots[: len(slot_mapping)] = slot_mapping
        return {
            "rows": np.resize(rows, (ctx.lanes, DIM)),
            "slot_mapping": slots[: ctx.lanes],
            "state": state[: ctx.lanes],
        }

    def step(ctx, rows, slot_mapping, state):
        scene.step(ctx, rows, slot_mapping)

    report = graphsan.check(step, prepare=prepare, opaque={"n": state[1:2]}, **scene.arguments)
    assert report.exit_code == 4, report
    assert "input `state` lies only partly in what is declared (n)" in report.failure.what


@pytest.mark.parametrize("shape", ["broadcast over lanes", "broadcast in a lane", "every other", "back"])
def test_an_input_whose_lanes_are_not_whole_is_left_out_with_a_note(scene, shape):
    slots, values = np.full(4, -1, np.int64), np.ones((4, DIM), np.float32)
    wide = np.ones((4, 2 * DIM), np.float32)

    def prepare(ctx, rows, slot_mapping):
        slots[:] = -1
        slots[: len(slot_mapping)] = slot_mapping
        made = {
            "broadcast over lanes": np.broadcast_to(values[0], (4, DIM)),
            "broadcast in a lane": np.broadcast_to(values[:, :1], (4, DIM)),
            "every other": wide[:, ::2],
            "back": values[::-1],
        }
        values[...] = wide[:, ::2] = rows[:1]
        return {"values": made[shape][: ctx.lanes], "places": slots[: ctx.lanes]}

    def step(ctx, values, places):
        ctx.launch(write_rows, scene.cache, values, places)

    report = graphsan.check(step, prepare=prepare, **scene.arguments)
    assert report.verdict == "agreed", report
    (note,) = report.notes
    assert note.startswith("input `values` was not looked at")


@pytest.mark.parametrize("kind", ["input", "opaque", "output", "returned"])
def test_a_cache_may_share_its_name_with_what_else_is_declared(scene, kind):
    counter, sums = np.zeros(1, np.float32), np.zeros((4, DIM), np.float32)

    def write(cache, rows, slots, counter, sums):
        write_rows(cache, rows + counter, slots)
        sums[: len(rows)] = rows
        counter += 1

    def step(ctx, slot_mapping, **given):
        rows = given["key" if kind == "input" else "rows"]
        out = np.zeros_like(rows) if kind == "returned" else sums
        ctx.launch(write, scene.cache, rows, slot_mapping, counter, out)
        return {"key": out} if kind == "returned" else None

    scene.arguments["inputs"] = {"key" if kind == "input" else "rows": scene.rows}
    scene.arguments["opaque"] = {"key" if kind == "opaque" else "counter": counter}
    if kind == "output":
        scene.arguments["outputs"] = {"key": graphsan.Output(sums)}
    report = graphsan.check(step, **scene.arguments)
    assert report.verdict == "agreed", report
    assert report.rows_compared >= TOKENS * STEPS


def test_what_prepare_gives_comes_before_a_cache_of_that_name(scene):
    def prepare(ctx, rows, slot_mapping):
        padded = np.full((ctx.lanes, DIM), 1, np.float32)
        padded[: len(rows)] = rows
        return {"key": padded}

    seen = set()

    def step(ctx, key):
        seen.add(key.shape)
        ctx.launch(write_rows, scene.cache, key, np.arange(len(key)))

    graphsan.check(step, prepare=prepare, **scene.arguments)
    assert seen == {(3, DIM), (4, DIM)}
