"""Report: what it shows and how."""

import dataclasses
import html
import json
import re

import numpy as np
import pytest
from scene import sum_rows, write_rows

import graphsan
from graphsan import _abi


@pytest.fixture
def elided(scene):
    def step(ctx, rows, slot_mapping):
        if ctx.metadata is not None:
            ctx.launch(write_rows, scene.cache, rows, slot_mapping)
        ctx.launch(sum_rows, np.zeros(4, np.float32), scene.cache, slot_mapping)

    return graphsan.check(step, capture_metadata="none", name="<b>my step</b>", **scene.arguments)


def test_findings_are_dataclasses_with_all_that_the_json_has(elided):
    data = json.loads(elided.to_json())["cases"][0]["findings"][0]
    (finding,) = elided.findings
    assert dataclasses.is_dataclass(finding)
    for field in ("mechanism", "status", "experiment", "fix"):
        assert getattr(finding, field) == data[field] != ""
    assert list(finding.evidence) == data["evidence"]
    assert finding.source == data["where"][0]["source"]
    ruled_out = json.loads(elided.to_json())["cases"][0]["ruled_out"]
    assert [(r.mechanism, r.why) for r in elided.ruled_out] == [
        (r["mechanism"], r["why"]) for r in ruled_out
    ]


def test_text_and_repr_show_the_finding(elided):
    assert "elided-write" in str(elided)
    assert "SUMMARY: graphsan: diverged" in str(elided)
    assert repr(elided).startswith("<graphsan.Report diverged: elided-write (confirmed) at ")


def test_the_page_is_one_file_also_on_disk(elided, tmp_path):
    page = elided.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert page.lstrip().lower().startswith("<!doctype html")
    assert not re.search(r'(?:src|href)="https?://', page)


def test_a_notebook_shows_the_page_inside_an_attribute(elided):
    shown = elided._repr_html_()
    inside = re.fullmatch(r'<iframe srcdoc="([^"]*)"[^<]*></iframe>', shown)
    assert inside is not None
    assert html.unescape(inside.group(1)) == elided.to_html()
    assert "<b>my step</b>" not in shown


def test_assert_graph_safe_says_the_finding(scene):
    def step(ctx, rows, slot_mapping):
        if ctx.metadata is not None:
            ctx.launch(write_rows, scene.cache, rows, slot_mapping)
        ctx.launch(sum_rows, np.zeros(4, np.float32), scene.cache, slot_mapping)

    with pytest.raises(AssertionError) as error:
        graphsan.assert_graph_safe(step, capture_metadata="none", **scene.arguments)
    for part in (
        "diverged",
        "elided-write (confirmed)",
        "key of layer 0",
        "test_report.py:",
        "fix: ",
    ):
        assert part in str(error.value)
    assert graphsan.assert_graph_safe(scene.step, **scene.arguments).verdict == "agreed"


def test_assert_graph_safe_passes_on_what_the_step_raised(scene):
    def step(ctx, rows, slot_mapping):
        raise OSError("no scheduler")

    with pytest.raises(AssertionError, match="no scheduler") as error:
        graphsan.assert_graph_safe(step, **scene.arguments)
    assert isinstance(error.value.__cause__, OSError)


def test_a_report_outlives_a_second_check(elided, scene):
    before = str(elided)
    graphsan.check(scene.step, **scene.arguments)
    assert str(elided) == before


def test_the_version_is_the_librarys():
    assert re.fullmatch(r"\d+\.\d+\.\d+", graphsan.version())


class Texts:
    """The library, with texts of its own in place of some."""

    def __init__(self, **texts):
        self._texts = texts
        self._library = _abi.library()

    def __getattr__(self, name):
        if name == "graphsan_report_text":
            return lambda handle, format: self._texts.get(
                format.decode(), self._library.graphsan_report_text(handle, format)
            )
        return getattr(self._library, name)


def test_a_report_that_the_library_cannot_give_is_an_error_that_says_so(scene, monkeypatch):
    report = graphsan.check(scene.step, **scene.arguments)
    with pytest.raises(graphsan.GraphSanError, match="no report as pdf.*text"):
        report._text_as("pdf")
    monkeypatch.setattr(_abi, "_library", Texts(json=None))
    with pytest.raises(graphsan.GraphSanError, match="no report as json"):
        graphsan.check(scene.step, **scene.arguments)


def test_bytes_of_a_report_that_are_no_text_are_replaced(scene, monkeypatch):
    monkeypatch.setattr(_abi, "_library", Texts(text=b"key \xff\n"))
    assert str(graphsan.check(scene.step, **scene.arguments)) == "key \ufffd\n"
