"""What a step raises, and where it is said."""

import traceback

import pytest
from scene import line_of, write_rows

import graphsan


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
