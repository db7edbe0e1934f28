import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples" / "python"))

from scene import Scene  # noqa: E402

pytest_plugins = ["pytester"]
collect_ignore = ["wheel_test.py"]  # a program of its own: it builds for minutes


@pytest.fixture
def scene():
    return Scene()
