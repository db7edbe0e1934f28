#!/usr/bin/env python3
"""Runs every command in the sh blocks of the top-level README and of the examples', and checks links.

usage: readme_test.py PROGRAM

A command ends with the exit code that its comment names (`# exit code 1`), else with 0. All run in one
scratch folder, in the README's order, with `build/graphsan` standing for PROGRAM. `make run` and `make
test` would start the tests again: of a `make` command it is checked that make knows how.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
EXAMPLES = sorted((ROOT / "examples").glob("*/README.md"))
# Examples for an installed GraphSan; cuda_step_test.py, new_step_test.py and the tests of the Python package
# run their commands.
INSTALLED = {"cuda-step", "new-step", "python"}
PROGRAM = ""
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"#.*\bexit code (\d+)")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def commands(text):
    """(command line, exit code) of every line in the sh blocks; a backslash joins lines."""
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if line.strip() and not line.startswith("#"):
                code = EXIT_CODE.search(line)
                yield line, int(code.group(1)) if code else 0


class Readme(unittest.TestCase):
    def run_command(self, line, folder):
        if line.startswith("make "):
            return subprocess.run(f"make --dry-run {line[5:]}", shell=True, cwd=ROOT,
                                  capture_output=True, text=True)
        return subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True,
                              timeout=120)

    def test_every_command_ends_as_it_says(self):
        seen = []
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "build"))
            os.symlink(PROGRAM, os.path.join(folder, "build", "graphsan"))
            for line, code in commands(README.read_text()):
                seen.append(line.split("#")[0].strip())
                with self.subTest(command=line):
                    result = self.run_command(line, folder)
                    self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertIn("make run", seen)
        self.assertIn("make test", seen)
        self.assertTrue(any(line.startswith("build/graphsan ") for line in seen))

    def test_every_command_of_an_example_ends_as_it_says(self):
        self.assertTrue(EXAMPLES)
        for readme in EXAMPLES:
            if readme.parent.name in INSTALLED:
                continue
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(os.path.join(folder, "build"))
                os.symlink(PROGRAM, os.path.join(folder, "build", "graphsan"))
                for name in ("examples", "include"):
                    os.symlink(ROOT / name, os.path.join(folder, name))
                ran = list(commands(readme.read_text()))
                self.assertTrue(ran, readme)
                for line, code in ran:
                    with self.subTest(command=line):
                        result = self.run_command(line, folder)
                        self.assertEqual(result.returncode, code, result.stdout + result.stderr)

    def test_every_link_to_a_file_leads_to_one(self):
        for page in (README, ROOT / "docs" / "own-steps.md", *EXAMPLES):
            for link in LINK.findall(page.read_text()):
                if not link.startswith("http"):
                    self.assertTrue((page.parent / link).exists(), link)


class Reader(unittest.TestCase):
    def test_reads_commands_exit_codes_and_joined_lines(self):
        text = "```sh\na b  # exit code 3\n# a remark\nc \\\n  d\n```\n```\nnot run\n```\n"
        self.assertEqual([(line.split("#")[0].split(), code) for line, code in commands(text)],
                         [(["a", "b"], 3), (["c", "d"], 0)])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
