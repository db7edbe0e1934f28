"""The pytest plug-in: a fixture `graphsan`, and the option --graphsan-html=DIR.

    def test_decode_step(graphsan):
        graphsan.assert_graph_safe(step, caches, slot_mapping, inputs)

A check that asks for CUDA where there is no GPU skips the test, with what the library says of it; or fails
it, where GRAPHSAN_REQUIRE_GPU is set or torch can use the GPU.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import sys
import warnings
from typing import Any, Callable, Optional

import pytest

from ._check import check, device_problem, require_agreed
from ._failures import NoDeviceError
from ._report import Report


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("graphsan")
    group.addoption(
        "--graphsan-html",
        metavar="DIR",
        default=None,
        help="write the report of each check of a test into DIR, as one page named after the test",
    )


class GraphSan:
    """What the fixture `graphsan` gives: check() and assert_graph_safe(), as the package has them, for one
    test. `reports` holds what was found so far."""

    def __init__(self, folder: Optional[pathlib.Path], test: str):
        self._folder = folder
        self._test = test
        self.reports: list[Report] = []

    def require_cuda(self) -> None:
        """Skips the test unless CUDA can be used, or fails it: see the top of this file."""
        problem = device_problem("cuda")
        if problem is not None:
            self._no_device(problem)

    def check(self, step: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
        try:
            report = check(step, *args, **kwargs)
        except NoDeviceError as error:
            self._no_device(str(error))
            raise
        self.reports.append(report)
        if self._folder is not None:
            self._write(report, self._folder)
        return report

    def _write(self, report: Report, folder: pathlib.Path) -> None:
        """Writes the page; a test does not fail for want of one."""
        number = "" if len(self.reports) == 1 else f"-{len(self.reports)}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            report.to_html(folder / f"{self._test}{number}.html")
        except OSError as error:
            warnings.warn(
                pytest.PytestWarning(
                    f"no page of the report was written: {error}; give --graphsan-html a folder that can "
                    "be written"
                ),
                stacklevel=3,
            )

    def assert_graph_safe(self, step: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
        __tracebackhide__ = True
        return require_agreed(self.check(step, *args, **kwargs))

    @staticmethod
    def _no_device(problem: str) -> None:
        if os.environ.get("GRAPHSAN_REQUIRE_GPU"):
            pytest.fail(f"GRAPHSAN_REQUIRE_GPU is set: {problem}", pytrace=False)
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():
            pytest.fail(f"torch can use the GPU and GraphSan cannot: {problem}", pytrace=False)
        pytest.skip(problem)


def _page_name(test: str) -> str:
    """A file's name, without its ending: of at most 170 bytes, and another for each test."""
    readable = re.sub(r"[^\w.=-]+", "_", test, flags=re.ASCII).strip("_")[:160]
    return f"{readable}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"


@pytest.fixture
def graphsan(request: pytest.FixtureRequest) -> GraphSan:
    """Checks steps under CUDA graphs; see GraphSan."""
    folder = request.config.getoption("--graphsan-html")
    return GraphSan(pathlib.Path(folder) if folder else None, _page_name(request.node.nodeid))
