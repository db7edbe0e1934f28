#!/usr/bin/env python3
"""Holds the program to its fixed words: options, exit codes, JSON keys, SUMMARY line, seed matrix.

usage: contract_test.py PROGRAM [--device host|cuda] [unittest options]

What is expected is written out here and not taken from the program, so that a change of a word, of
an exit code or of a verdict fails. Needs the standard library only: it runs on GPU machines too.
"""
import argparse
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
DEVICE = "host"
SUMMARY = "SUMMARY: graphsan: "
TIMEOUT_S = 120

MECHANISMS = {
    "elided-write", "branch-at-capture", "escaped-launch", "frozen-scalar", "frozen-rng",
    "moved-buffer", "stale-contents", "freed-memory", "replaced-workspace", "pool-alias",
    "dead-host-memory", "padding-write", "padding-leak", "padding-metadata", "capture-side-effect",
    "wrong-graph", "missing-dependency", "missing-reset", "racy-staging", "uninitialized-read",
    "wrong-scale", "numeric-noise", "unstable-eager", "topk-tie", "wrong-everywhere",
}
KV_CACHES = {"key", "value", "index-key"}
DAMAGED_CACHES = {"elided-write": KV_CACHES, "padding-write": {"index-key"}}
FP8 = ("fp8_e4m3", "fp8_e5m2")


def graphsan(*arguments, env=None):
    try:
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              timeout=TIMEOUT_S, env=None if env is None else {**os.environ, **env})
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 124, "", f"no end within {TIMEOUT_S} s")


def last_line(text):
    lines = text.splitlines()
    return lines[-1] if lines else ""


@dataclasses.dataclass(frozen=True)
class Cell:
    """One case of the seed's matrix."""
    kv_dtype: str
    write_path: str
    mode: str
    batch: str
    padded: bool

    def arguments(self):
        bucket = 4 if self.batch == "decode" else 24
        tokens = {"decode": 3, "prefill": 20}[self.batch] if self.padded else bucket
        return ("check", "--device", DEVICE, "--kv-dtype", self.kv_dtype, "--write-path",
                self.write_path, "--mode", self.mode, "--batch", self.batch, "--tokens", tokens,
                "--bucket", bucket)

    def mechanisms(self):
        """What must be found, and nothing else."""
        if self.kv_dtype not in FP8 or not self.write_path.startswith("insert-kv"):
            return set()
        no_metadata = self.mode == "piecewise" or (
            self.mode == "full-and-piecewise" and self.batch == "prefill")
        if self.write_path == "insert-kv-a" and no_metadata:
            return {"elided-write"}
        return {"padding-write"} if self.padded else set()


def cells():
    paths = [("bf16", "fused"), ("bf16", "two-step")]
    paths += itertools.product(FP8, ("fused", "two-step", "insert-kv-a", "insert-kv-b"))
    for (dtype, path), mode, padded in itertools.product(
            paths, ("piecewise", "breakable", "full"), (False, True)):
        yield Cell(dtype, path, mode, "decode", padded)
    for path, batch, padded in itertools.product(
            ("two-step", "insert-kv-a", "insert-kv-b"), ("decode", "prefill"), (False, True)):
        yield Cell("fp8_e5m2", path, "full-and-piecewise", batch, padded)


class Matrix(unittest.TestCase):
    """Every cell by itself, with --json on standard output."""

    def check(self, cell, result):
        report = json.loads(result.stdout)
        diverges = bool(cell.mechanisms())
        self.assertEqual(result.returncode, 1 if diverges else 0)
        self.assertEqual(report["exit_code"], result.returncode)
        self.assertEqual(report["device"], DEVICE)
        self.assertTrue(report["device_name"])
        self.assertTrue(report["schema_version"])
        self.assertEqual(len(report["cases"]), 1)
        case = report["cases"][0]
        for key, value in dataclasses.asdict(cell).items():
            self.assertEqual(case[key], value, key)
        self.assertIn(case["layout"], ("nhd", "hnd"))
        self.assertIn(case["generation"], ("a", "b"))
        self.assertEqual(case["verdict"], "diverged" if diverges else "agreed")
        self.assertEqual(report["verdict"], case["verdict"])
        self.assertGreater(case["rows_compared"], 0)
        self.assertGreater(case["replays"], 1)
        self.assertGreater(case["nodes"], 0)
        self.assertEqual({f["mechanism"] for f in case["findings"]}, cell.mechanisms())
        self.check_lists(case)
        for finding in case["findings"]:
            self.check_finding(finding)

    def check_lists(self, case):
        found = {f["mechanism"] for f in case["findings"]}
        for ruled_out in case["ruled_out"]:
            self.assertIn(ruled_out["mechanism"], MECHANISMS)
            self.assertNotIn(ruled_out["mechanism"], found)
            self.assertTrue(ruled_out["why"])
        for note in case["notes"]:
            self.assertIsInstance(note, str)

    def check_finding(self, finding):
        self.assertEqual(finding["status"], "confirmed")
        self.assertTrue(finding["experiment"])
        self.assertTrue(finding["fix"])
        self.assertTrue(finding["evidence"])
        self.assertTrue(all(isinstance(line, str) and line for line in finding["evidence"]))
        damaged = {where["cache"] for where in finding["where"] if where["cache"] in KV_CACHES}
        self.assertEqual(damaged, DAMAGED_CACHES[finding["mechanism"]])
        for where in finding["where"]:
            self.assertIsInstance(where["layer"], int)
            self.assertLessEqual({"node", "kernel", "source"}, set(where))
            for page, slot in where["rows"]:
                self.assertGreaterEqual(min(page, slot), 0)
        self.assertTrue(any(where["rows"] for where in finding["where"]))

    def test_every_cell_is_as_the_table_says(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {cell: pool.submit(graphsan, *cell.arguments(), "--json") for cell in cells()}
        for cell, job in jobs.items():
            with self.subTest(cell=cell):
                result = job.result()
                try:
                    self.check(cell, result)
                except (KeyError, TypeError, ValueError) as error:
                    self.fail(f"{error!r}; exit code {result.returncode}; {result.stderr[-300:]}")
                self.assertTrue(last_line(result.stderr).startswith(SUMMARY), result.stderr[-300:])

    def test_lists_give_the_product(self):
        result = graphsan("check", "--device", DEVICE, "--kv-dtype", "bf16,fp8_e5m2", "--write-path",
                          "two-step,insert-kv-b", "--mode", "full", "--json")
        cases = json.loads(result.stdout)["cases"]
        self.assertEqual(sorted((c["kv_dtype"], c["write_path"]) for c in cases),
                         sorted(itertools.product(("bf16", "fp8_e5m2"), ("insert-kv-b", "two-step"))))


class Words(unittest.TestCase):
    def test_summary_is_the_last_line(self):
        result = graphsan("check", "--device", DEVICE, "--kv-dtype", "fp8_e5m2", "--write-path",
                          "insert-kv-a")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertTrue(last_line(result.stdout).startswith(SUMMARY), result.stdout[-300:])
        self.assertEqual(result.stdout.count(SUMMARY), 1)
        self.assertNotIn("\x1b", result.stdout)

    def test_help_version_and_doctor_succeed(self):
        for arguments in (["--help"], ["--version"], ["check", "--help"], ["doctor"],
                          ["list", "steps"], ["list", "faults"], ["list", "devices"]):
            with self.subTest(arguments=arguments):
                result = graphsan(*arguments)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue(result.stdout.strip())

    def test_every_mechanism_is_listed_and_explained(self):
        listed = graphsan("list", "mechanisms").stdout.split()
        self.assertEqual(set(listed), set(MECHANISMS))
        for mechanism in listed:
            with self.subTest(mechanism=mechanism):
                result = graphsan("explain", mechanism)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertGreater(len(result.stdout), 200)


class BadInput(unittest.TestCase):
    """One short error that says what to do, the right exit code, nothing left behind."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refuse(self, code, *arguments):
        before = self.contents()
        result = graphsan(*arguments, env={"CUDA_VISIBLE_DEVICES": ""})
        message = result.stderr.strip()
        self.assertEqual(result.returncode, code, message)
        self.assertTrue(0 < len(message) < 1200, message)
        self.assertNotIn("terminate called", message)
        if arguments[0] in ("check", "report"):
            self.assertTrue(last_line(result.stdout).startswith(SUMMARY), result.stdout[-300:])
        self.assertEqual(self.contents(), before)

    def contents(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def test_values_out_of_range(self):
        for arguments in (["--kv-dtype", "fp7"], ["--steps", "0"], ["--tokens", "-3"],
                          ["--tokens", "8", "--bucket", "4"], ["--page-size", "100"],
                          ["--fault", "no-such-fault"], ["--mode", "sideways"], ["--tp", "3"],
                          ["--write-path", "by-hand"], ["--layout", "dhn"], ["--no-such-option"],
                          ["--context", "9000000000000000"]):
            with self.subTest(arguments=arguments):
                self.refuse(2, "check", "--device", "host", *arguments)

    def test_words_that_do_not_exist(self):
        self.refuse(2, "frobnicate")
        self.refuse(2, "explain", "no-such-thing")
        self.refuse(2, "list", "no-such-thing")

    def test_the_first_generation_op_refuses_fp8(self):
        self.refuse(2, "check", "--device", "host", "--kv-dtype", "fp8_e5m2", "--fused-op",
                    "bf16-only")

    def test_a_recording_that_is_none(self):
        foreign = self.folder / "foreign.graphsan"
        foreign.write_bytes(b"this is not a recording")
        self.refuse(2, "report", foreign, "--html", self.folder / "report.html")
        self.refuse(2, "report", self.folder / "none.graphsan", "--html", self.folder / "r.html")
        self.refuse(2, "check", "--device", "host", "--record", foreign)

    def test_a_truncated_recording(self):
        whole = self.folder / "whole.graphsan"
        run = graphsan("check", "--device", DEVICE, "--kv-dtype", "bf16", "--record", whole)
        self.assertEqual(run.returncode, 0, run.stderr)
        truncated = self.folder / "truncated.graphsan"
        truncated.write_bytes(whole.read_bytes()[:5000])
        whole.unlink()
        self.refuse(2, "report", truncated, "--html", self.folder / "report.html")

    def test_an_output_that_cannot_be_written(self):
        for option in ("--html", "--json", "--record"):
            with self.subTest(option=option):
                for place in (self.folder / "no/such/folder/file", "/proc/file", self.folder):
                    self.refuse(2, "check", "--device", "host", f"{option}={place}")

    def test_a_scenario_that_cannot_be_read(self):
        self.refuse(2, "check", "--scenario", self.folder / "none.toml")
        broken = self.folder / "broken.toml"
        broken.write_text("steps = = 4\n")
        self.refuse(2, "check", "--scenario", broken)
        unknown = self.folder / "unknown.toml"
        unknown.write_text("stepz = 4\n")
        self.refuse(2, "check", "--scenario", unknown)

    def test_a_gpu_that_is_not_there(self):
        self.refuse(77, "check", "--device", "cuda")
        self.refuse(2, "check", "--device", "cuda", "--steps", "0")


class Outputs(unittest.TestCase):
    def test_a_recording_gives_the_report_that_the_run_gave(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            run = graphsan("check", "--device", DEVICE, "--kv-dtype", "fp8_e5m2", "--write-path",
                           "insert-kv-a", "--record", folder / "run.graphsan",
                           f"--json={folder / 'run.json'}", "--html", folder / "run.html")
            self.assertEqual(run.returncode, 1, run.stderr)
            again = graphsan("report", folder / "run.graphsan", f"--json={folder / 'again.json'}",
                             "--html", folder / "again.html")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertTrue(last_line(again.stdout).startswith(SUMMARY))
            self.assertEqual(json.loads((folder / "again.json").read_text()),
                             json.loads((folder / "run.json").read_text()))
            self.assertEqual((folder / "again.html").read_bytes(), (folder / "run.html").read_bytes())
            self.assertEqual(len(list(folder.iterdir())), 5)

    def test_the_command_line_beats_the_scenario(self):
        with tempfile.TemporaryDirectory() as name:
            scenario = pathlib.Path(name) / "mine.toml"
            scenario.write_text('kv-dtype = "fp8_e5m2"\nwrite-path = "two-step"\nmode = "full"\n')
            result = graphsan("check", "--device", DEVICE, "--scenario", scenario, "--mode",
                              "breakable", "--json")
            case, = json.loads(result.stdout)["cases"]
            self.assertEqual((case["kv_dtype"], case["write_path"], case["mode"]),
                             ("fp8_e5m2", "two-step", "breakable"))


def main():
    global PROGRAM, DEVICE
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--device", default="host", choices=("host", "cuda"))
    options, rest = parser.parse_known_args()
    PROGRAM, DEVICE = os.path.abspath(options.program), options.device
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
