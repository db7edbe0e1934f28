#!/usr/bin/env python3
"""Holds libgraphsan.so to what it exports and needs, and loads it as Python does.

usage: library_test.py LIBRARY HEADER STATIC [unittest options]

STATIC is 1 where the build links its packages statically. Needs nm and readelf.
"""
import ctypes
import pathlib
import re
import subprocess
import sys
import unittest

LIBRARY = HEADER = STATIC = ""

# Where packages are static, the library needs what every Linux has.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|ld-linux-x86-64)\.so\..*")
NEVER = re.compile(r"(libcuda|libcudart|libcupti|libtorch|libc10)\b.*")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Library(unittest.TestCase):
    def test_it_exports_what_the_header_declares_and_nothing_else(self):
        declared = set(re.findall(r"^[\w ]+\*? ?\b(graphsan_\w+)\(", HEADER.read_text(), re.MULTILINE))
        self.assertGreater(len(declared), 5)
        table = output("nm", "-D", "--defined-only", LIBRARY)
        exported = {line.split()[-1].split("@")[0] for line in table.splitlines() if line}
        self.assertEqual(exported, declared)

    def test_it_needs_neither_a_driver_nor_a_toolkit(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", LIBRARY))
        self.assertTrue(needed)
        self.assertEqual([name for name in needed if NEVER.fullmatch(name)], [])
        if STATIC == "1":
            self.assertEqual([name for name in needed if not SYSTEM.fullmatch(name)], [])

    def test_python_loads_it_and_reads_its_answers(self):
        library = ctypes.CDLL(LIBRARY)
        library.graphsan_version.restype = ctypes.c_char_p
        library.graphsan_device_problem.restype = ctypes.c_char_p
        self.assertRegex(library.graphsan_version().decode(), r"^\d+\.\d+\.\d+$")
        self.assertIsNone(library.graphsan_device_problem(b"host"))
        self.assertIn("it can be", library.graphsan_device_problem(b"gpu").decode())


if __name__ == "__main__":
    LIBRARY, HEADER, STATIC = sys.argv[1:4]
    HEADER = pathlib.Path(HEADER)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
