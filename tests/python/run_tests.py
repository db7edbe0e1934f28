#!/usr/bin/env python3
"""Runs the tests of the Python package with pytest over the sources.

usage: GRAPHSAN_LIBRARY=BUILD/libgraphsan.so run_tests.py [pytest options...]
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "python"

if __name__ == "__main__":
    missing = []
    for name in ("numpy", "pytest"):
        try:
            __import__(name)
        except ImportError:
            missing.append(name)
    if missing:
        sys.exit(f"{' and '.join(missing)} not found in {sys.executable}; run scripts/setup.sh")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *sys.argv[1:]]
    sys.exit(subprocess.run([*command, str(HERE)], cwd=HERE, env=environment).returncode)
