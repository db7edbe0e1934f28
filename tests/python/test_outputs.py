"""What a step returns, and buffers that it writes its results into."""

import numpy as np
import pytest
from scene import PAGE_SIZE, mechanisms, sum_rows, write_rows

import graphsan


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
