"""The examples that run without a GPU."""

import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


def run(folder, name, *arguments):
    return subprocess.run([sys.executable, str(EXAMPLES / name), *arguments], cwd=folder,
                          env=os.environ, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "fault, code, finding",
    [("none", 0, "agreed"), ("wrap", 1, "padding-write"), ("frozen", 1, "frozen-scalar"),
     ("elide", 1, "elided-write")],
)
def test_numpy_paged_write_finds_its_faults_and_no_other(tmp_path, fault, code, finding):
    result = run(tmp_path, "numpy_paged_write.py", fault)
    assert result.returncode == code, result.stdout + result.stderr
    summary = result.stdout.strip().splitlines()[-1]
    assert summary.startswith("SUMMARY: graphsan: ")
    assert finding in summary and summary.count(";") == (0 if fault == "none" else 1)
    assert (tmp_path / "numpy_paged_write.html").exists()
