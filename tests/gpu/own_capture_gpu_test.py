#!/usr/bin/env python3
"""Runs the step that captures itself, sound and faulty, by the program and by the library, on a GPU.

usage: own_capture_gpu_test.py PROGRAM PLUGIN LIBRARY

Needs a GPU. Where torch can be imported it makes the context first, as in a test suite of its user's.
"""
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = PLUGIN = LIBRARY = ""


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("device", ctypes.c_char_p),
                ("step_options", ctypes.c_char_p), ("capture_metadata", ctypes.c_char_p),
                ("capture_at", ctypes.c_char_p), ("record", ctypes.c_char_p),
                ("seed", ctypes.c_int64), ("carry", ctypes.c_int32), ("reserved", ctypes.c_int32)]


def by_program(bug):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        result = subprocess.run([PROGRAM, "check", "--device", "cuda", "--step", PLUGIN,
                                 "--step-options", bug, f"--json={path}"],
                                capture_output=True, text=True, timeout=120)
        print(f"---- program, {bug or 'sound'}\n{result.stdout[-4000:]}", flush=True)
        return result.returncode, json.loads(path.read_text())


def by_library(bug):
    library = ctypes.CDLL(LIBRARY)
    library.graphsan_last_error.restype = ctypes.c_char_p
    library.graphsan_report_text.restype = ctypes.c_char_p
    library.graphsan_report_text.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.graphsan_report_exit_code.argtypes = [ctypes.c_void_p]
    library.graphsan_report_free.argtypes = [ctypes.c_void_p]
    plugin = ctypes.CDLL(PLUGIN)
    plugin.graphsan_plugin.restype = ctypes.c_void_p
    options = Options(struct_size=ctypes.sizeof(Options), device=b"cuda", step_options=bug.encode())
    report = ctypes.c_void_p()
    result = library.graphsan_check(ctypes.c_void_p(plugin.graphsan_plugin()),
                                    ctypes.byref(options), ctypes.byref(report))
    if result != 0:
        raise AssertionError(f"{result}: {library.graphsan_last_error().decode()}")
    print(f"---- library, {bug or 'sound'}\n"
          f"{library.graphsan_report_text(report, b'text').decode()[-4000:]}", flush=True)
    code = library.graphsan_report_exit_code(report)
    values = json.loads(library.graphsan_report_text(report, b"json"))
    library.graphsan_report_free(report)
    return code, values


class OwnCapture(unittest.TestCase):
    def judge_sound(self, code, report):
        self.assertEqual((code, report["device"]), (0, "cuda"))
        case, = report["cases"]
        # Two caches of three rows in four steps; keys in one segment, values and sums in the other.
        self.assertEqual((case["rows_compared"], case["replays"], case["nodes"]), (24, 4, 3))

    def judge_faulty(self, code, report):
        self.assertEqual(code, 1)
        case, = report["cases"]
        finding, = case["findings"]
        self.assertEqual(finding["mechanism"], "elided-write")
        place = finding["where"][0]
        # The launch has no node, so its line comes from the trace of an eager step.
        self.assertEqual((place["cache"], place["source"]), ("value", "own_capture: values"))

    def test_the_program(self):
        self.judge_sound(*by_program(""))
        self.judge_faulty(*by_program("elide"))

    def test_the_library_in_this_process(self):
        try:
            import torch
            torch.ones(1, device="cuda")
        except ImportError:
            pass
        self.judge_sound(*by_library(""))
        self.judge_faulty(*by_library("elide"))
        self.judge_sound(*by_library(""))


if __name__ == "__main__":
    PROGRAM, PLUGIN, LIBRARY = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
