#!/usr/bin/env python3
"""Judges the JSON report of `graphsan check --scenario seed` by what is known of the seed.

usage: check_seed.py REPORT.json [--device host|cuda]

The table below is the expectation, written down apart from the program: which mechanism each cell of
the matrix must show, and no other. Prints what deviates, then 'N passed, N failed'; exits 1 if any
failed. Needs the standard library only.
"""
import argparse
import itertools
import json
import sys

KV_CACHES = {"key", "value", "index-key"}
MODES = ("piecewise", "breakable", "full")
PATHS = {
    "bf16": ("fused", "two-step"),
    "fp8_e5m2": ("fused", "two-step", "insert-kv-a", "insert-kv-b"),
}
# (write path, padded) -> mechanism by mode, where it is not "none": fp8 only, decode batches.
NAMED = {
    ("insert-kv-a", False): {"piecewise": "elided-write"},
    ("insert-kv-a", True): {"piecewise": "elided-write", "breakable": "padding-write",
                            "full": "padding-write"},
    ("insert-kv-b", True): {"piecewise": "padding-write", "breakable": "padding-write",
                            "full": "padding-write"},
}
# The link that breaks first in the needle's cases: body A loses K and V already in the dense layer.
FIRST_BROKEN = {"body A": "key-value-write", "index-K alone": "index-key-write",
                "fixed path": None}
DAMAGED = {"elided-write": KV_CACHES, "padding-write": {"index-key"}}


class Judge:
    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, what, found, expected):
        if found == expected:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}: found {found!r}, expected {expected!r}")


def damaged_caches(finding):
    return {where["cache"] for where in finding["where"] if where["rows"]} & KV_CACHES


def is_needle(case):
    return "needle" in case["group"]


def judge_finding(judge, name, finding, caches):
    judge.expect(f"{name}: status", finding["status"], "confirmed")
    judge.expect(f"{name}: caches with damaged rows", damaged_caches(finding), caches)
    judge.expect(f"{name}: evidence, experiment and fix are given",
                 all(finding[key] for key in ("evidence", "experiment", "fix")), True)


def judge_proof(judge, name, case):
    judge.expect(f"{name}: rows compared, replays and nodes prove that a graph ran",
                 case["rows_compared"] > 0 and case["replays"] > 1 and case["nodes"] > 0, True)


def judge_matrix(judge, cases):
    """Every cell of the table once, each with the mechanism that the table names and no other."""
    cells = {}
    for case in cases:
        key = tuple(case[k] for k in ("kv_dtype", "write_path", "mode", "padded"))
        judge.expect(f"{key}: cell is there once", key in cells, False)
        cells[key] = case
    for dtype, paths in PATHS.items():
        for cell in itertools.product((dtype,), paths, MODES, (False, True)):
            judge.expect(f"{cell}: cell is there", cell in cells, True)
    for (dtype, path, mode, padded), case in cells.items():
        name = f"{dtype} {path} {mode} {'padded' if padded else 'full bucket'}"
        mode = "full" if mode in ("full-decode-only", "full-and-piecewise") else mode
        mechanism = NAMED.get((path, padded), {}).get(mode) if dtype.startswith("fp8") else None
        judge.expect(f"{name}: mechanisms", [f["mechanism"] for f in case["findings"]],
                     [mechanism] if mechanism else [])
        judge.expect(f"{name}: verdict", case["verdict"], "diverged" if mechanism else "agreed")
        judge_proof(judge, name, case)
        for finding in case["findings"]:
            judge_finding(judge, name, finding, DAMAGED[finding["mechanism"]])


def judge_needle(judge, cases):
    """Body A loses all writes; index-K alone elided spoils the selection; the fixed path is clean."""
    expected = {"body A": KV_CACHES, "index-K alone": {"index-key"}, "fixed path": None}
    found = {}
    for case in cases:
        damage = [damaged_caches(f) for f in case["findings"] if f["mechanism"] == "elided-write"]
        for name, caches in expected.items():
            if caches is None and not case["findings"] or caches in damage:
                found[name] = case
    for name, caches in expected.items():
        judge.expect(f"needle, {name}: case is there", name in found, True)
        if name not in found:
            continue
        case = found[name]
        judge.expect(f"needle, {name}: verdict", case["verdict"], "diverged" if caches else "agreed")
        judge_proof(judge, f"needle, {name}", case)
        judge.expect(f"needle, {name}: one finding", len(case["findings"]), 1 if caches else 0)
        judge_chain(judge, f"needle, {name}", case, FIRST_BROKEN[name])


def judge_chain(judge, name, case, first_broken):
    """The write breaks first; the selection and the output are its consequences."""
    chain = {link["stage"]: link for link in case["chain"]}
    first = [link["stage"] for link in case["chain"] if link["first"]]
    judge.expect(f"{name}: first broken link", first, [first_broken] if first_broken else [])
    broken = first_broken is not None
    for stage in ("top-k", "output"):
        judge.expect(f"{name}: {stage} is spoiled", stage in chain and chain[stage]["broken"], broken)


def judge_errors(judge, report):
    """The rounding of fp8 is called normal, and no finding blames precision."""
    budgets = [b for b in report["error_budgets"] if b["dtype"] == "fp8_e5m2"]
    judge.expect("fp8_e5m2 has an error budget", bool(budgets), True)
    for budget in budgets:
        judge.expect("fp8_e5m2 round trip is 4.5 % ± 0.1",
                     abs(budget["round_trip_mean_rel"] - 0.045) <= 0.001, True)
        judge.expect("fp8_e5m2 error is called normal", budget["normal"], True)
    mechanisms = {f["mechanism"] for case in report["cases"] for f in case["findings"]}
    judge.expect("mechanisms named in all", mechanisms, {"elided-write", "padding-write"})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report")
    parser.add_argument("--device", help="the device that must have run it")
    options = parser.parse_args()
    with open(options.report, encoding="utf-8") as file:
        report = json.load(file)

    judge = Judge()
    judge.expect("verdict", report["verdict"], "diverged")
    judge.expect("exit code", report["exit_code"], 1)
    if options.device:
        judge.expect("device", report["device"], options.device)
    judge_matrix(judge, [c for c in report["cases"] if not is_needle(c)])
    judge_needle(judge, [c for c in report["cases"] if is_needle(c)])
    judge_errors(judge, report)
    print(f"What is known of the seed: {judge.passed} passed, {judge.failed} failed")
    return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
