"""The package and its examples are written in the oldest Python that the package is made for."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = (ROOT / "python" / "graphsan", ROOT / "examples" / "python")
FILES = [path for folder in FOLDERS for path in sorted(folder.rglob("*.py"))]
OLDEST = (3, 9)


def parse(text, name="text"):
    return ast.parse(text, name, feature_version=OLDEST)


def test_that_python_is_the_one_which_the_package_declares():
    declared = re.search(r'requires-python = ">=([0-9.]+)"', (ROOT / "pyproject.toml").read_text())
    assert tuple(int(part) for part in declared.group(1).split(".")) == OLDEST


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_parses_as_python_3_9(path):
    parse(path.read_text(encoding="utf-8"), str(path))


def test_newer_syntax_is_seen():
    assert {path.parent for path in FILES} >= set(FOLDERS)
    with pytest.raises(SyntaxError):
        parse("match value:\n    case 1:\n        pass\n")
