"""Ctrl-C ends a check, wherever it lands."""

import signal
import sys
import threading

import numpy as np
import pytest
from scene import DIM, write_rows

import graphsan


@pytest.mark.parametrize("call", [1, 5, 20])
def test_a_signal_at_the_first_bytecode_of_a_callback_ends_the_check(scene, call):
    calls = []

    def trace(frame, _event, _arg):
        if frame.f_code.co_name == "<lambda>" and frame.f_code.co_filename.endswith("_table.py"):
            calls.append(frame.f_lineno)
            if len(calls) == call:
                signal.raise_signal(signal.SIGINT)

    sys.settrace(trace)
    try:
        with pytest.raises(KeyboardInterrupt):
            graphsan.check(scene.step, **scene.arguments)
    finally:
        sys.settrace(None)
    assert len(calls) >= call
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert graphsan.check(scene.step, **scene.arguments).verdict == "agreed"


def test_a_second_signal_is_raised_in_the_step(scene):
    after = []

    def step(ctx, rows, slot_mapping):
        signal.raise_signal(signal.SIGINT)
        after.append("first")
        signal.raise_signal(signal.SIGINT)
        after.append("second")

    with pytest.raises(KeyboardInterrupt):
        graphsan.check(step, **scene.arguments)
    assert after == ["first"]


def test_a_handler_of_the_programs_stays(scene):
    seen = []

    def handler(_number, _frame):
        seen.append(1)

    def step(ctx, rows, slot_mapping):
        signal.raise_signal(signal.SIGINT)
        scene.step(ctx, rows, slot_mapping)

    before = signal.signal(signal.SIGINT, handler)
    try:
        assert graphsan.check(step, **scene.arguments).verdict == "agreed"
        assert seen and signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_check_in_another_thread_runs(scene):
    reports = []
    thread = threading.Thread(
        target=lambda: reports.append(graphsan.check(scene.step, **scene.arguments))
    )
    thread.start()
    thread.join()
    assert [report.verdict for report in reports] == ["agreed"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_is_no_exception_ends_the_check_from_an_experiment_too(scene, error):
    calls, last = [], None

    def write(cache, scaled, slots):
        calls.append(1)
        if len(calls) == last:
            raise error
        write_rows(cache, scaled, slots)

    def step(ctx, rows, slot_mapping):
        ctx.launch(write, scene.cache, np.resize(rows, (ctx.lanes, DIM)) * 2, slot_mapping)

    report = graphsan.check(step, **scene.arguments)
    assert [finding.mechanism for finding in report.findings] == ["moved-buffer"]
    last = len(calls)
    calls.clear()
    with pytest.raises(error):
        graphsan.check(step, **scene.arguments)
