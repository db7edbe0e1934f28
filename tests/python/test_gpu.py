"""The cases of gpu_cases.py, on a GPU."""

import os

import pytest

import graphsan

torch = pytest.importorskip("torch", reason="torch is not installed")
import gpu_cases  # noqa: E402


@pytest.mark.parametrize("case", gpu_cases.CASES, ids=lambda case: case.__name__)
def test_on_a_gpu(case):
    problem = graphsan.device_problem("cuda")
    if problem is not None:
        if os.environ.get("GRAPHSAN_REQUIRE_GPU"):
            pytest.fail(f"GRAPHSAN_REQUIRE_GPU is set: {problem}")
        pytest.skip(problem)
    case()
