"""The pytest plug-in, by tests of tests."""

import pathlib
import sys
import types

import pytest

import graphsan

HERE = pathlib.Path(__file__).parent
PASSES = """
def test_sound(graphsan, scene):
    graphsan.assert_graph_safe(scene.step, **scene.arguments)
"""
FAILS = """
from scene import wrap_rows

def test_wraps(graphsan, scene):
    def step(ctx, rows, slot_mapping):
        ctx.launch(wrap_rows, scene.cache, rows, slot_mapping)

    graphsan.assert_graph_safe(step, **scene.arguments)
"""
ON_CUDA = """
def test_cuda(graphsan, scene):
    graphsan.assert_graph_safe(scene.step, device="cuda", **scene.arguments)

def test_before_tensors_are_made(graphsan):
    graphsan.require_cuda()
    raise AssertionError("not skipped")
"""


@pytest.fixture
def run(pytester, monkeypatch):
    monkeypatch.delenv("GRAPHSAN_REQUIRE_GPU", raising=False)
    pytester.makeconftest(
        f"import sys\nsys.path.insert(0, {str(HERE)!r})\n"
        "import pytest\nfrom scene import Scene\n"
        "@pytest.fixture\ndef scene():\n    return Scene()\n"
    )

    def run_tests(text, *options):
        pytester.makepyfile(text)
        plugin = () if _installed() else ("-p", "graphsan.pytest_plugin")
        return pytester.runpytest_inprocess(*plugin, "-rs", *options)

    return run_tests


def _installed():
    from importlib.metadata import entry_points

    found = entry_points()
    group = found.select(group="pytest11") if hasattr(found, "select") else found.get("pytest11", [])
    return any(one.name == "graphsan" for one in group)


def test_a_sound_step_passes(run):
    run(PASSES).assert_outcomes(passed=1)


def test_a_fault_fails_with_the_finding(run):
    result = run(FAILS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: graphsan: diverged*", "*padding-write*", "*fix: *"])


def test_html_writes_one_page_a_test(run, pytester):
    run(PASSES + FAILS, "--graphsan-html=reports").assert_outcomes(passed=1, failed=1)
    pages = sorted(pytester.path.glob("reports/*.html"))
    assert [page.name.split("test_")[-1].split("-")[0] for page in pages] == ["sound", "wraps"]
    assert all("<!doctype html" in page.read_text().lower() for page in pages)


def test_each_test_has_a_page_of_its_own_whatever_its_name(run, pytester):
    names = ["x/y", "x y", "x_y", "long" * 100, "é" * 200]
    result = run(
        f"import pytest\n\n@pytest.mark.parametrize('name', {names!r}, ids={names!r})"
        + PASSES.replace("graphsan, scene", "graphsan, scene, name"),
        "--graphsan-html=reports",
    )
    result.assert_outcomes(passed=5)
    assert len(list(pytester.path.glob("reports/*.html"))) == 5


def test_a_page_that_cannot_be_written_is_a_warning(run, pytester):
    (pytester.path / "reports").write_text("no folder")
    result = run(PASSES, "--graphsan-html=reports")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*PytestWarning: no page of the report was written*"])


@pytest.mark.skipif(graphsan.device_problem("cuda") is None, reason="there is a GPU")
def test_cuda_without_a_gpu_is_skipped_with_the_reason(run):
    result = run(ON_CUDA)
    result.assert_outcomes(skipped=2)
    assert graphsan.device_problem("cuda") in result.stdout.str()
    result.stdout.no_fnmatch_line("*no GPU*")


@pytest.mark.skipif(graphsan.device_problem("cuda") is None, reason="there is a GPU")
def test_cuda_without_a_gpu_fails_where_one_is_required(run, monkeypatch):
    monkeypatch.setenv("GRAPHSAN_REQUIRE_GPU", "1")
    result = run(ON_CUDA)
    result.assert_outcomes(failed=2)
    result.stdout.no_fnmatch_line("*not skipped*")


@pytest.mark.skipif(graphsan.device_problem("cuda") is None, reason="there is a GPU")
def test_a_library_that_cannot_use_the_gpu_of_torch_fails_the_test(run, monkeypatch):
    cuda = types.SimpleNamespace(is_available=lambda: True)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda, Tensor=type("", (), {})))
    result = run(ON_CUDA)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*torch can use the GPU and GraphSan cannot: *"])


@pytest.mark.parametrize("name, error", [("device", "ValueError"), ("record", "ValueError")])
def test_a_check_that_cannot_be_made_is_no_skip(run, name, error):
    result = run(PASSES.replace("**scene", f"{name}='/nowhere/at all', **scene"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{error}: *"])
