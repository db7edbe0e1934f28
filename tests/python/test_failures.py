"""What a step raises, and where it is said."""

import traceback

import pytest
from scene import line_of, write_rows

import graphsan
from graphsan import _frames


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
    assert f"test_failures.py:{line_of(step, 'raise KeyError')} in step" in report.failure.what
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


class Untellable(Exception):
    def __str__(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize("launched", [False, True])
@pytest.mark.parametrize(
    "error", [ValueError("half of a pair: \ud83d"), ValueError("a\0b"), Untellable()], ids=repr
)
def test_an_exception_is_a_failure_whatever_its_text(scene, error, launched):
    def write(cache, rows):
        raise error

    def step(ctx, rows, slot_mapping):
        if not launched:
            raise error
        ctx.launch(write, scene.cache, rows)

    report = graphsan.check(step, **scene.arguments)
    assert report.exit_code == 4, report
    assert type(error).__name__ in report.failure.what
    assert report.exception is error


def test_an_error_that_cannot_be_told_is_a_failure_all_the_same(scene, monkeypatch):
    def nothing(_error):
        raise RuntimeError("no line")

    def write(cache, rows):
        raise ValueError("first")

    monkeypatch.setattr(_frames, "in_one_line", nothing)
    for step in (
        lambda ctx, rows, slot_mapping: ctx.launch(write, scene.cache, rows),
        lambda ctx, rows, slot_mapping: write(rows, rows),
    ):
        assert graphsan.check(step, **scene.arguments).exit_code == 4


def test_words_of_any_letters_are_taken(scene):
    def step(ctx, rows, slot_mapping):
        ctx.label("insert \udcff")
        scene.step(ctx, rows, slot_mapping)

    report = graphsan.check(step, name="step \ud83d", **scene.arguments)
    assert report.verdict == "agreed", report
    assert "step \\ud83d" in str(report)


def test_a_working_directory_that_is_gone_ends_no_check(scene, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    def broken(ctx, rows, slot_mapping):
        raise ValueError("from the step")

    assert graphsan.check(scene.step, **scene.arguments).verdict == "agreed"
    assert "from the step" in graphsan.check(broken, **scene.arguments).failure.what


@pytest.mark.parametrize("uncovered", [(), (0,), (3,), (1, 2)], ids=str)
def test_what_a_function_raises_in_an_experiment_is_a_note_whatever_ran_without_a_graph(
    scene, uncovered
):
    calls, last = [], None

    def write(cache, scaled, slots):
        calls.append(1)
        if last is not None and len(calls) > last:
            raise ValueError("a planted value")
        write_rows(cache, scaled, slots)

    def step(ctx, rows, slot_mapping):
        rows = rows * 2 if faulty else rows
        ctx.launch(write, scene.cache, rows, slot_mapping)

    batches = [
        graphsan.Batch(slots, {"rows": rows}, eager_reason="long" if number in uncovered else None)
        for number, (slots, rows) in enumerate(zip(scene.slots, scene.rows))
    ]
    faulty = False
    assert graphsan.check(step, {"key": scene.cache}, batches=batches).verdict == "agreed"
    last, faulty = len(calls), True  # all but experiments
    calls.clear()
    report = graphsan.check(step, {"key": scene.cache}, batches=batches)
    assert report.exit_code == 1, report
    assert len(calls) > last
    assert any("in an experiment" in note for note in report.notes), report
