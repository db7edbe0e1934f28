"""Declared arrays that a launched function reaches without being given them: refused, and nothing else is."""

import collections
import dis
import functools
import inspect
import json
import logging
import subprocess
import textwrap
import types

import numpy as np
import pytest
from scene import DIM, PAGE_SIZE, STEPS, TOKENS, write_rows

import graphsan
from graphsan import _reach

CACHE = np.zeros((4, PAGE_SIZE, 1, DIM), np.float32)
HELD = types.SimpleNamespace(cache=CACHE, scale=2.0, inner=types.SimpleNamespace(cache=CACHE))
CACHES = {"key": CACHE, "scale": 2.0}
LAYERS = [CACHE]
Fields = collections.namedtuple("Fields", "cache scale")
FIELDS = Fields(CACHE, 2.0)


def by_global(rows, slots):
    write_rows(CACHE, rows, slots)


def by_attribute(rows, slots):
    write_rows(HELD.cache, rows, slots)


def by_two_attributes(rows, slots):
    write_rows(HELD.inner.cache, rows, slots)


def by_key(rows, slots):
    write_rows(CACHES["key"], rows, slots)


def by_number(rows, slots):
    write_rows(LAYERS[0], rows, slots)


def by_loop(rows, slots):
    for cache in LAYERS:
        write_rows(cache, rows, slots)


def by_values(rows, slots):
    for cache in CACHES.values():
        write_rows(cache, rows, slots)


def by_field(rows, slots):
    write_rows(FIELDS.cache, rows, slots)


def by_call(rows, slots):
    by_global(rows, slots)


def by_inner_function(rows, slots):
    def inner():
        write_rows(CACHE, rows, slots)

    inner()


def by_default(rows, slots, cache=CACHE):
    write_rows(cache, rows, slots)


def by_keyword_default(rows, slots, *, caches=CACHES):
    write_rows(caches["key"], rows, slots)


def by_part(rows, slots):
    write_rows(CACHE[:2], rows, slots)


def nested_closure():
    cache = CACHE

    def inner(rows, slots):
        write_rows(cache, rows, slots)

    return lambda rows, slots: inner(rows, slots)


def closed_container():
    caches = {"key": CACHE}
    return lambda rows, slots: write_rows(caches["key"], rows, slots)


class Engine:
    shared = CACHE

    def __init__(self):
        self.cache = CACHE
        self.caches = [CACHE]

    @property
    def current(self):
        return self.cache

    def write(self, rows, slots):
        write_rows(self.cache, rows, slots)

    def write_item(self, rows, slots):
        write_rows(self.caches[0], rows, slots)

    def write_property(self, rows, slots):
        write_rows(self.current, rows, slots)

    def write_inside(self, rows, slots):
        (lambda: write_rows(self.cache, rows, slots))()

    def write_by_method(self, rows, slots):
        self.write(rows, slots)

    @classmethod
    def write_shared(cls, rows, slots):
        write_rows(cls.shared, rows, slots)

    def __call__(self, rows, slots):
        self.write(rows, slots)

    def write_given(self, rows, slots, cache):
        write_rows(cache, rows, slots)

    def write_closed(self):
        cache = self.cache
        return lambda rows, slots: write_rows(cache, rows, slots)


def report_of(scene, launched, *more):
    def step(ctx, rows, slot_mapping):
        ctx.launch(launched, rows, slot_mapping, *more)

    return graphsan.check(step, {"key": CACHE}, scene.slots, scene.arguments["inputs"])


@pytest.mark.parametrize(
    "launched, name",
    [
        (by_global, "`CACHE`"),
        (by_attribute, "`HELD.cache`"),
        (by_two_attributes, "`HELD.inner.cache`"),
        (by_key, "`CACHES['key']`"),
        (by_number, "`LAYERS[0]`"),
        (by_loop, "`LAYERS`, which holds it"),
        (by_values, "`CACHES`, which holds it"),
        (by_field, "`FIELDS.cache`"),
        (by_call, "`CACHE` (in `by_global`)"),
        (by_inner_function, "`CACHE`"),
        (by_default, "the default of `cache`"),
        (by_keyword_default, "the default of `caches`, which holds it"),
        (by_part, "`CACHE`"),
        (nested_closure(), "`cache` (in `inner`)"),
        (closed_container(), "`caches['key']`"),
        (Engine().write, "`self.cache`"),
        (Engine().write_item, "`self.caches[0]`"),
        (Engine().write_property, "`self.cache` (in `self.current`)"),
        (Engine().write_inside, "`self.cache`"),
        (Engine().write_by_method, "`self.cache` (in `self.write`)"),
        (Engine().write_shared, "`cls.shared`"),
        (Engine(), "`self.cache` (in `self.write`)"),
        (functools.partial(Engine().write), "`self.cache`"),
        (CACHE.__setitem__, "the array of its method `__setitem__`"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_declared_array_that_is_not_given_is_refused(scene, launched, name):
    report = report_of(scene, launched)
    assert report.exit_code == 4, report
    assert f" uses {name}, and that is declared (key)" in report.failure.what
    assert "Pass it as an argument: ctx.launch(" in report.failure.what
    assert isinstance(report.exception, TypeError)


def spelled_but_not_used(rows, slots, cache):
    """Attributes and locals of the same names as what is declared."""
    CACHES = {"key": cache}
    held = types.SimpleNamespace(CACHE=CACHES["key"])
    write_rows(held.CACHE, rows, slots)


def shape_only(rows, slots, cache):
    write_rows(cache.reshape(CACHE.shape), rows, slots)
    if CACHE.dtype != cache.dtype or HELD.cache.ndim != 4:
        raise ValueError(cache)


def other_parts(rows, slots, cache):
    write_rows(cache, rows * (HELD.scale * CACHES["scale"] * FIELDS.scale), slots)


def of_other_code(rows, slots, cache):
    """What it calls holds all that code can hold."""
    logging.getLogger("graphsan.tests").debug("rows %s", json.dumps(textwrap.dedent(" rows")))
    subprocess.list2cmdline(["rows"])
    write_rows(cache, rows, slots)


def with_default(rows, slots, cache=CACHE):
    write_rows(cache, rows, slots)


@pytest.mark.parametrize(
    "launched",
    [spelled_but_not_used, shape_only, other_parts, of_other_code, with_default, Engine().write_given],
)
def test_what_is_given_is_refused_for_no_name_it_shares(scene, launched):
    report = report_of(scene, launched, CACHE)
    assert report.verdict == "agreed", report
    assert report.rows_compared == STEPS * TOKENS


def test_a_partial_goes_as_the_arguments_of_the_launch_do(scene):
    def write(cache, scale, rows, slots):
        write_rows(cache, rows * scale, slots)

    launched = functools.partial(functools.partial(write, CACHE), 2.0)
    assert report_of(scene, launched).verdict == "agreed"
    launched = functools.partial(by_default, cache=CACHE)
    assert report_of(scene, launched).verdict == "agreed"


def test_arrays_of_the_closure_are_given(scene):
    report = report_of(scene, Engine().write_closed())
    assert report.verdict == "agreed", report


def test_an_array_that_nobody_declared_may_be_reached_in_any_way(scene):
    table = [np.full(1, 2.0, np.float32)]

    def write(rows, slots, cache):
        write_rows(cache, rows * table[0], slots)

    assert report_of(scene, write, CACHE).verdict == "agreed"


def test_any_code_can_be_looked_through():
    modules = (dis, functools, inspect, json, logging, np, subprocess, textwrap, types, graphsan)
    functions = [f for m in modules for f in vars(m).values() if isinstance(f, types.FunctionType)]
    assert len(functions) > 100
    for function in functions:
        _reach.require_given("f", function, (), {}, lambda _array: None)
