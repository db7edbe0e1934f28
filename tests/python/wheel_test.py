#!/usr/bin/env python3
"""Installs the project into a fresh environment, as a user would, and checks a step there.

usage: wheel_test.py SCRATCH_FOLDER      CMake's part is kept there, so that a second run is quick
"""

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "python" / "numpy_paged_write.py"
SCRATCH = None
# What any Linux machine has, by the beginnings of the names.
SYSTEM = ("linux-vdso", "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "/lib", "ld-linux")

TEST_OF_A_STEP = """
import numpy as np
import pytest

@pytest.mark.parametrize("skips", [True, False])
def test_step(graphsan, skips):
    cache = np.zeros((4, 16, 1, 8), np.float32)

    def write(cache, rows, slots, skips):
        live = slots >= 0 if skips else slice(None)
        cache.reshape(-1, 8)[slots[live]] = rows[live]

    def step(ctx, rows, slot_mapping):
        ctx.launch(write, cache, rows, slot_mapping, skips)

    slots = [[n, 16 + n, 32 + n] for n in range(4)]
    rows = [np.full((3, 8), n + 1, np.float32) for n in range(4)]
    graphsan.assert_graph_safe(step, {"key": cache}, slots, {"rows": rows})
"""


def user_environment():
    """The caller's, but for what would lead Python to the sources, and with ccache where there is one."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "GRAPHSAN_LIBRARY", "CMAKE_ARGS")}
    if shutil.which("ccache"):
        kept["CMAKE_C_COMPILER_LAUNCHER"] = kept["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    return kept


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.venv = SCRATCH / "venv"
        shutil.rmtree(cls.venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", cls.venv], check=True)
        cls.run_pip(
            "install", str(ROOT), f"-Cbuild-dir={SCRATCH / 'cmake'}", "-Ccmake.define.GRAPHSAN_CUDA=OFF"
        )
        (cls.package,) = map(pathlib.Path, glob.glob(f"{cls.venv}/lib/python3*/site-packages/graphsan"))
        (cls.metadata,) = cls.package.parent.glob("graphsan-*.dist-info")

    @classmethod
    def run_pip(cls, *arguments):
        command = [cls.venv / "bin" / "pip", "--disable-pip-version-check", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, env=user_environment())
        assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-8000:]

    def python(self, *arguments):
        return subprocess.run([self.venv / "bin" / "python", *arguments], cwd=SCRATCH, text=True,
                              capture_output=True, timeout=300, env=user_environment())

    def test_one_wheel_serves_every_python_3(self):
        lines = (self.metadata / "WHEEL").read_text().splitlines()
        tags = [line for line in lines if line.startswith("Tag:")]
        self.assertEqual(len(tags), 1)
        self.assertRegex(tags[0], r"^Tag: py3-none-(many)?linux")

    def test_the_package_is_typed_and_has_the_library_inside(self):
        self.assertTrue((self.package / "py.typed").exists())
        command = ["ldd", self.package / "libgraphsan.so"]
        needed = subprocess.run(command, capture_output=True, text=True).stdout
        names = [line.split()[0] for line in needed.splitlines()]
        self.assertEqual([name for name in names if not name.startswith(SYSTEM)], [], needed)

    def test_numpy_is_all_that_it_depends_on(self):
        requires = [line for line in (self.metadata / "METADATA").read_text().splitlines()
                    if line.startswith("Requires-Dist:")]
        self.assertEqual(len(requires), 1)
        self.assertIn("numpy", requires[0])
        self.assertNotEqual(self.python("-c", "import torch").returncode, 0)

    def test_the_numpy_example_runs(self):
        sound, faulty = self.python(EXAMPLE), self.python(EXAMPLE, "frozen")
        self.assertEqual(sound.returncode, 0, sound.stdout + sound.stderr)
        self.assertIn("SUMMARY: graphsan: agreed", sound.stdout)
        self.assertEqual(faulty.returncode, 1, faulty.stdout + faulty.stderr)
        self.assertIn("frozen-scalar", faulty.stdout)

    def test_pytest_finds_the_fixture_and_the_option(self):
        self.run_pip("install", "pytest")
        folder = SCRATCH / "tests"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "test_step.py").write_text(TEST_OF_A_STEP)
        result = self.python("-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder),
                             f"--graphsan-html={folder / 'pages'}")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("1 failed, 1 passed", result.stdout)
        self.assertIn("padding-write", result.stdout)
        self.assertEqual(len(list((folder / "pages").glob("*.html"))), 2)

    def test_the_version_is_the_projects(self):
        said = self.python("-c", "import graphsan; print(graphsan.version())").stdout.strip()
        self.assertIn(f"project(graphsan VERSION {said} ", (ROOT / "CMakeLists.txt").read_text())
        self.assertEqual(self.metadata.name, f"graphsan-{said}.dist-info")


if __name__ == "__main__":
    SCRATCH = pathlib.Path(sys.argv.pop(1)).resolve()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unittest.main()
