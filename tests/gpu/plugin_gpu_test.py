#!/usr/bin/env python3
"""Runs the CUDA plug-in example, sound and with each of its mistakes, on a GPU.

usage: plugin_gpu_test.py PROGRAM EXAMPLE

Needs a GPU and the standard library only.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = EXAMPLE = ""


class CudaPlugin(unittest.TestCase):
    def check(self, bug):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.json"
            result = subprocess.run([PROGRAM, "check", "--device", "cuda", "--step", EXAMPLE,
                                     "--step-options", bug, f"--json={path}"],
                                    capture_output=True, text=True, timeout=120)
            print(f"---- {bug or 'sound'}\n{result.stdout[-3000:]}", flush=True)
            report = json.loads(path.read_text())
            self.assertEqual(report["device"], "cuda")
            case, = report["cases"]
            return result.returncode, case

    def test_a_sound_step_agrees(self):
        code, case = self.check("")
        self.assertEqual(code, 0)
        self.assertEqual((case["rows_compared"], case["replays"], case["nodes"]), (12, 4, 2))

    def test_mechanisms_are_named(self):
        for bug, mechanism in (("elide", "elided-write"), ("wrap", "padding-write"),
                               ("stray", "wrong-everywhere")):
            with self.subTest(bug=bug):
                code, case = self.check(bug)
                self.assertEqual(code, 1)
                self.assertEqual([one["mechanism"] for one in case["findings"]], [mechanism])
                # GraphSan launched none of the kernels: a node's label is known from the capture, and
                # that of an elided write, which has no node, from the trace of an eager step.
                if bug != "stray":
                    self.assertEqual(case["findings"][0]["where"][0]["source"],
                                     "paged_write.cu: write")

    def test_a_word_that_the_capture_froze_is_found_by_a_second_capture(self):
        code, case = self.check("frozen")
        self.assertEqual(code, 1)
        finding, = case["findings"]
        self.assertEqual((finding["mechanism"], finding["status"]), ("frozen-scalar", "confirmed"))
        self.assertIn("a second capture, of the step's own batch", " ".join(finding["evidence"]))

    def test_a_step_that_refuses_a_second_capture_keeps_its_verdict(self):
        code, case = self.check("picky")
        self.assertEqual((code, case["verdict"]), (1, "diverged"))
        self.assertIn("no second capture could be made", " ".join(case["notes"]))

    def test_a_step_that_does_nothing_never_agrees(self):
        code, case = self.check("idle")
        self.assertEqual((code, case["nodes"]), (1, 0))

    def test_failures_say_what_and_where(self):
        for bug, phase, step, words in (
                ("sync", "capture", -1, "cudaDeviceSynchronize: "),
                ("fault", "control", 1, "illegal")):
            with self.subTest(bug=bug):
                code, case = self.check(bug)
                self.assertEqual((code, case["verdict"]), (4, "inconclusive"))
                self.assertEqual((case["failure"]["phase"], case["failure"]["step"]), (phase, step))
                self.assertIn(words, case["failure"]["what"])


if __name__ == "__main__":
    PROGRAM, EXAMPLE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
