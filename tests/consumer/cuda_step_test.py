#!/usr/bin/env python3
"""Installs GraphSan into an empty folder, and runs every command of examples/cuda-step/README.md there.

usage: cuda_step_test.py BUILD_FOLDER CMAKE [unittest options]

The kernel runs on a GPU where there are one and nvcc, else on the host device. What the failing test
says is the finding, so its words are held to that.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from readme_test import commands  # noqa: E402

BUILD = CMAKE = ""
README = ROOT / "examples" / "cuda-step" / "README.md"
FINDING = ("Expected: does as a CUDA graph what it does eagerly", "diverged (exit code 1)",
           "frozen-scalar", "paged_step.hpp:", "where", "evidence", "fix",
           "SUMMARY: graphsan: diverged")


class CudaStep(unittest.TestCase):
    def test_every_command_of_its_readme_ends_as_it_says(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "build").mkdir()
            os.symlink(ROOT / "examples", folder / "examples")
            subprocess.run([CMAKE, "--install", BUILD, "--prefix", folder / "prefix"], check=True,
                           capture_output=True)
            outputs = {}
            for line, code in commands(README.read_text()):
                result = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True,
                                        timeout=300)
                self.assertEqual(result.returncode, code, line + "\n" + result.stdout + result.stderr)
                outputs[line.split()[0], code] = result.stdout
            passed = outputs["build/cuda-step/paged_write_test", 0]
            self.assertIn("[  PASSED  ] 1 test.", passed)
            failed = outputs["build/cuda-step/paged_write_test", 1]
            for words in FINDING:
                self.assertIn(words, failed)


if __name__ == "__main__":
    BUILD, CMAKE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
