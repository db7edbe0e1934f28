#!/usr/bin/env python3
"""Builds and checks the step that `graphsan new-step` writes, and holds it to what it must not do.

usage: new_step_test.py PROGRAM BUILD_FOLDER CMAKE [unittest options]

The step is built against GraphSan as it is installed, by the commands of its own README.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from readme_test import commands

PROGRAM = BUILD = CMAKE = ""
FILES = {"CMakeLists.txt", "README.md", "step.cpp"}


def graphsan(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)


class NewStep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refuse(self, target, says):
        result = graphsan("new-step", target)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn(says, result.stderr)

    def test_it_builds_and_does_what_its_readme_says(self):
        step = self.folder / "made" / "step"
        written = graphsan("new-step", step)
        self.assertEqual(written.returncode, 0, written.stderr)
        self.assertIn(f"graphsan check --device host --step {step}/build/libstep.so", written.stdout)
        self.assertEqual({path.name for path in step.iterdir()}, FILES)

        prefix = self.folder / "prefix"
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", prefix], check=True,
                       capture_output=True)
        environment = {**os.environ, "CMAKE_PREFIX_PATH": str(prefix),
                       "PATH": f"{prefix}/bin:{os.environ['PATH']}"}
        last = {}
        for line, code in commands((step / "README.md").read_text()):
            result = subprocess.run(line, shell=True, cwd=step, capture_output=True, text=True,
                                    timeout=120, env=environment)
            self.assertEqual(result.returncode, code, line + "\n" + result.stdout + result.stderr)
            last[code] = result.stdout
        self.assertIn("SUMMARY: graphsan: agreed", last[0])
        self.assertIn("frozen-scalar (confirmed)", last[1])
        self.assertIn("step.cpp:", last[1])

    def test_an_empty_folder_is_taken(self):
        self.assertEqual(graphsan("new-step", self.folder).returncode, 0)
        self.assertEqual({path.name for path in self.folder.iterdir()}, FILES)

    def test_nothing_is_overwritten(self):
        mine = self.folder / "step.cpp"
        mine.write_text("mine")
        self.refuse(self.folder, "the folder is not empty")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["step.cpp"])
        self.assertEqual(mine.read_text(), "mine")
        self.refuse(mine, "that is no folder")

    def test_a_folder_that_cannot_be_made_is_refused(self):
        (self.folder / "file").write_text("")
        self.refuse(self.folder / "file" / "step", "cannot be made")

    def test_a_folder_must_be_named(self):
        self.assertEqual(graphsan("new-step").returncode, 2)


if __name__ == "__main__":
    PROGRAM, BUILD, CMAKE = (os.path.abspath(sys.argv[1]), *sys.argv[2:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
