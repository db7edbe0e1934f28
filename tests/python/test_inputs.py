"""The arrays and numbers that a step is called with, in each arm."""

import numpy as np
from scene import DIM, PAGE_SIZE, PAGES, STEPS, TOKENS, write_rows

import graphsan


def test_a_buffer_that_is_replaced_after_capture_is_a_moved_buffer(scene):
    def prepare(rows, slot_mapping):
        padded = np.full(4, -1, np.int64)
        padded[: len(slot_mapping)] = slot_mapping
        return {"rows": np.resize(rows, (4, DIM)), "slot_mapping": padded}

    report = graphsan.check(scene.step, prepare=prepare, **scene.arguments)
    assert report.verdict == "diverged", report
    assert "moved-buffer" in [f.mechanism for f in report.findings]


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


def test_inputs_that_never_change_prove_nothing(scene):
    scene.arguments["slot_mapping"] = [scene.slots[0]] * STEPS
    scene.arguments["inputs"] = {"rows": [scene.rows[0]] * STEPS}
    assert graphsan.check(scene.step, **scene.arguments).verdict == "inconclusive"


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


def test_a_batch_that_no_graph_serves_makes_no_bucket_larger(scene):
    tokens = 9
    slots = [*scene.slots[:3], [page * PAGE_SIZE + 8 + i for page in range(3) for i in range(3)]]
    rows = [*scene.rows[:3], np.ones((tokens, DIM), np.float32)]
    seen = set()

    def step(ctx, rows, slot_mapping):
        seen.add((ctx.arm, ctx.lanes, ctx.tokens))
        scene.step(ctx, rows, slot_mapping)

    batches = [
        graphsan.Batch(s, {"rows": r}, eager_reason="long" if len(s) == tokens else None)
        for s, r in zip(slots, rows)
    ]
    report = graphsan.check(step, scene.arguments["caches"], batches=batches)
    assert report.verdict == "agreed", report
    assert {lanes for arm, lanes, _ in seen if arm == "graph"} == {4}
    assert ("eager", tokens, tokens) in seen
