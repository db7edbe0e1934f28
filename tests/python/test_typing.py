"""The package's types, and that it uses no more of the standard library than Python 3.9 has."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="mypy is not installed; scripts/setup.sh installs it")
ROOT = pathlib.Path(__file__).parents[2]
# Stubs of other packages may be written in a newer Python.
OLDEST = """
[mypy]
python_version = 3.9
strict = true
disallow_subclassing_any = false
disallow_untyped_decorators = false
[mypy-numpy.*,pytest.*,torch.*]
follow_imports = skip
"""


def mypy(folder, *arguments):
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(folder), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_package_is_strictly_typed(tmp_path):
    ran = mypy(tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_package_needs_no_newer_library_than_that_of_python_3_9(tmp_path):
    (tmp_path / "mypy.ini").write_text(OLDEST)
    (tmp_path / "newer.py").write_text("import itertools\nprint(itertools.pairwise([1, 2]))\n")
    options = ("--config-file", str(tmp_path / "mypy.ini"))
    ran = mypy(tmp_path, *options, "python/graphsan")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "pairwise" in mypy(tmp_path, *options, str(tmp_path / "newer.py")).stdout
