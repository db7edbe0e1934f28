#!/usr/bin/env python3
"""Holds `selftest`, planted faults, `--blind` and `--minimize` to what a user is told of them.

usage: diagnosis_commands_test.py PROGRAM [unittest options]

Everything runs on the host device. Needs the standard library only.
"""
import collections
import json
import os
import pathlib
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
SUMMARY = "SUMMARY: graphsan: "
TIMEOUT_S = 120
BLIND = re.compile(r"^Blind: planted was (nothing|([a-z-]+:[a-z-]+)(, repaired)?); "
                   r"the same again: (graphsan check .*)$", re.MULTILINE)
MINIMIZED = re.compile(r"^Minimized: (\d+) smaller cases tried; (.*)\n  (graphsan check .*)$",
                       re.MULTILINE)


def graphsan(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})


def on_a_terminal(*arguments):
    """Exit code, standard output, and what a terminal as standard error shows."""
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=theirs,
                          text=True) as process:
        os.close(theirs)
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # Linux says that the other end is closed
            pass
        finally:
            os.close(ours)
        output = process.stdout.read()
        return process.wait(TIMEOUT_S), output, shown.decode()


def last_line(text):
    lines = text.splitlines()
    return lines[-1] if lines else ""


def faults():
    """The variants of each mechanism, as `list faults` has them."""
    variants = collections.defaultdict(list)
    for line in graphsan("list", "faults").stdout.splitlines():
        mechanism, variant = line.split()[0].split(":")
        variants[mechanism].append(variant)
    return variants


def found_in(case):
    return [finding["mechanism"] for finding in case["findings"]]


def essence(case):
    """What two runs of one case have in common: evidence may name addresses."""
    findings = [(finding["mechanism"], finding["status"], finding["first_step"], finding["where"])
                for finding in case["findings"]]
    keys = ("verdict", "rows_compared", "row_differences", "kv_dtype", "write_path", "mode")
    return findings, {key: case[key] for key in keys}


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def report(self, *arguments, code):
        """The JSON report of a command, whose standard output is nothing else."""
        result = graphsan(*arguments, "--json")
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertTrue(last_line(result.stderr).startswith(SUMMARY), result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["exit_code"], code)
        return report

    def case(self, *arguments, code):
        cases = self.report("check", "--device", "host", *arguments, code=code)["cases"]
        self.assertEqual(len(cases), 1)
        return cases[0]

    def run_printed(self, command, code):
        """The only case of a command as the program printed it, run again."""
        program, check, *arguments = shlex.split(command)
        self.assertEqual((program, check), ("graphsan", "check"))
        cases = self.report(check, *arguments, code=code)["cases"]
        self.assertEqual(len(cases), 1)
        return cases[0]

    def refuse(self, *arguments, says):
        result = graphsan(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertTrue(result.stderr.startswith("graphsan: "), result.stderr)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, result.stderr)
        self.assertTrue(last_line(result.stdout).startswith(SUMMARY + "bad usage: "), result.stdout)
        return result


def printed_matrix(text):
    """Planted → found → cases, and the confirmed cases of each planted mechanism."""
    head, *lines = text.splitlines()
    if not head.startswith("planted \\ found"):
        raise AssertionError(f"no matrix: {text}")
    rows = [line.split() for line in lines if re.match(r" *\d+ [a-z]", line)]
    names = [row[1] for row in rows]
    if [int(row[0]) for row in rows] != list(range(1, len(rows) + 1)):
        raise AssertionError(f"rows are not numbered: {text}")
    matrix = {}
    confirmed = {}
    for row in rows:
        counts = row[2:2 + len(names)]
        matrix[row[1]] = {name: int(count) for name, count in zip(names, counts) if count != "."}
        if len(row) > 2 + len(names):
            confirmed[row[1]] = int(row[2 + len(names)])
    return matrix, confirmed


def matrix_of(report):
    """The same from the cases of the JSON report."""
    matrix = collections.defaultdict(collections.Counter)
    confirmed = collections.Counter()
    for case in report["cases"]:
        planted = "none"
        if case["group"] == "planted":
            planted = case["fault"].split(":")[0]
            sure = all(finding["status"] == "confirmed" for finding in case["findings"])
            confirmed[planted] += bool(case["findings"]) and sure
        for mechanism in set(found_in(case)) or {"none"}:
            matrix[planted][mechanism] += 1
    return {planted: dict(row) for planted, row in matrix.items()}, dict(confirmed)


class Selftest(CommandTest):
    def test_prints_a_diagonal_matrix_that_is_in_the_json_too(self):
        # The first has a variant that is a hazard, which no experiment confirms; the second's
        # findings leave the verdict at agreed.
        mechanisms = ("missing-dependency", "numeric-noise")
        path = self.folder / "matrix.json"
        code, output, shown = on_a_terminal("selftest", "--device", "host", "--only",
                                            ",".join(mechanisms), f"--json={path}")
        self.assertEqual(code, 0, output)
        self.assertIn("cases done", shown)
        variants = faults()
        planted = {mechanism: len(variants[mechanism]) for mechanism in mechanisms}
        total = sum(planted.values())
        matrix, confirmed = printed_matrix(output)
        self.assertEqual(matrix, {"none": {"none": total},
                                  **{m: {m: count} for m, count in planted.items()}})
        self.assertEqual(confirmed, {**planted, "missing-dependency":
                                     planted["missing-dependency"] - 1})
        self.assertRegex(last_line(output), rf"^{SUMMARY}selftest: diagonal: {total} faults and "
                                            rf"{total} clean twins, 0 wrong \(.+\)$")
        report = json.loads(path.read_text())
        self.assertEqual(matrix_of(report), (matrix, confirmed))
        names = {f"{mechanism}:{variant}" for mechanism in mechanisms
                 for variant in variants[mechanism]}
        for group in ("planted", "clean twins"):
            self.assertEqual({case["fault"] for case in report["cases"]
                              if case["group"] == group}, names)
        self.assertEqual(report["exit_code"], 0)
        stored = report["confusion_matrix"]
        counts, confirmed = matrix_of(report)
        self.assertEqual(stored["counts"], counts)
        self.assertEqual(stored["confirmed"], confirmed)
        self.assertEqual(stored["wrong"], [])

    def test_json_on_standard_output_leaves_the_matrix_on_standard_error(self):
        result = graphsan("selftest", "--device", "host", "--only", "missing-reset", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(matrix_of(json.loads(result.stdout)), printed_matrix(result.stderr))
        self.assertTrue(last_line(result.stderr).startswith(SUMMARY + "selftest: diagonal"))

    def test_a_seed_draws_other_values_and_the_matrix_stays(self):
        digests = {}
        for name, seed in (("default", ()), ("one", ("--seed", 1)), ("seven", ("--seed", 7))):
            path = self.folder / name
            result = graphsan("selftest", "--device", "host", "--only", "missing-reset", *seed,
                              f"--json={path}")
            self.assertEqual(result.returncode, 0, result.stdout)
            cases = json.loads(path.read_text())["cases"]
            self.assertEqual({case["seed"] for case in cases}, {seed[1] if seed else 1})
            digests[name] = [row["eager_digest"] for case in cases
                             for row in case["row_differences"]["differences"]]
        self.assertGreater(len(digests["one"]), 0)
        self.assertEqual(digests["one"], digests["default"])
        self.assertFalse(set(digests["one"]) & set(digests["seven"]))

    def test_runs_one_variant_alone(self):
        result = graphsan("selftest", "--device", "host", "--only", "elided-write:index-key")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("diagonal: 1 faults and 1 clean twins", last_line(result.stdout))

    def test_refuses_what_is_no_mechanism_and_says_where_they_are(self):
        for word in ("no-such-thing", "elided-write:no-such-variant", ""):
            with self.subTest(word=word):
                result = self.refuse("selftest", "--device", "host", "--only", word,
                                     says=["--only", f"'{word}'"])
                hint = re.search("`graphsan (.+)`", result.stderr)
                listed = graphsan(*hint[1].split()).stdout.split()
                mechanisms = {word.split(":")[0] for word in listed}
                self.assertEqual(set(faults()) - mechanisms, set())
        self.refuse("selftest", "--device", "host", "--only", "elided-write,no-such-thing",
                    says="'no-such-thing'")
        self.refuse("selftest", "--only", says="--only")
        self.refuse("selftest", "--jobs", 0, says="--jobs")
        self.refuse("selftest", "--watchdog", 0, says="--watchdog")
        self.refuse("selftest", "--seed", "three", says="--seed")

    def test_refuses_a_seed_that_is_out_of_range(self):
        for seed in (-1, 10**30):
            self.refuse("selftest", "--device", "host", "--only", "missing-reset", "--seed", seed,
                        says="--seed")

    def test_checks_its_outputs_before_anything_runs(self):
        for option in ("--json", "--html"):
            code, output, shown = on_a_terminal("selftest", "--device", "host",
                                                f"{option}={self.folder}/none/report")
            self.assertEqual(code, 2, output)
            self.assertIn(f"{self.folder}/none", shown)
            self.assertNotIn("cases done", shown)
            self.assertNotIn("planted", output)
            self.assertTrue(last_line(output).startswith(SUMMARY + "bad usage: "), output)


class PlantedFault(CommandTest):
    VERDICTS = {"elided-write:last-layer": (1, "diverged"), "padding-write": (1, "diverged"),
                "missing-dependency:unharmed": (1, "hazard"), "wrong-everywhere": (1, "diverged"),
                "numeric-noise": (0, "agreed"), "topk-tie:bucket": (0, "agreed"),
                "unstable-eager": (3, "inconclusive")}

    def check(self, fault, code, *options):
        """Verdict, mechanisms, the case, and the last line, of one planted fault."""
        path = self.folder / "report.json"
        result = graphsan("check", "--device", "host", "--fault", fault, *options,
                          f"--json={path}")
        self.assertEqual(result.returncode, code, result.stdout[-1000:] + result.stderr)
        case, = json.loads(path.read_text())["cases"]
        return case["verdict"], found_in(case), case, last_line(result.stdout)

    def test_is_named_alone_and_decides_the_exit_code(self):
        for fault, (code, expected) in self.VERDICTS.items():
            with self.subTest(fault=fault):
                mechanism = fault.split(":")[0]
                verdict, found, case, summary = self.check(fault, code)
                self.assertEqual((verdict, found), (expected, [mechanism]))
                self.assertEqual(case["fault"], fault)
                self.assertRegex(summary, rf"^{SUMMARY}{expected}: 1 of 1 case; {mechanism} \(")
                self.assertIn(f"--fault {fault}", case["reproduce"])

    def test_its_clean_twin_agrees_with_nothing_found(self):
        for fault in self.VERDICTS:
            with self.subTest(fault=fault):
                verdict, found, case, summary = self.check(fault, 0, "--clean-twin")
                self.assertEqual((verdict, found), ("agreed", []))
                self.assertGreater(case["rows_compared"], 0)
                self.assertEqual(case["row_differences"]["total"], 0)
                self.assertRegex(summary, rf"^{SUMMARY}agreed: 1 of 1 case \(.+\)$")
                self.assertTrue(case["reproduce"].endswith("--clean-twin"), case["reproduce"])

    def test_what_padding_did_is_not_cured_by_another_capture(self):
        _, found, case, _ = self.check("padding-leak:shared-amax", 1, "--kv-dtype", "fp8_e5m2")
        self.assertEqual(found, ["padding-leak"])
        self.assertEqual(case["findings"][0]["status"], "confirmed")

    def test_carried_damage_neither_agrees_nor_clears_its_cause(self):
        verdict, _, case, summary = self.check("padding-write", 3, "--carry")
        self.assertEqual(verdict, "inconclusive")
        self.assertIn("Run without --carry", summary)
        verdict, found, case, _ = self.check("moved-buffer", 1, "--carry")
        self.assertIn("moved-buffer", found)
        self.assertNotIn("moved-buffer", [one["mechanism"] for one in case["ruled_out"]])
        self.assertEqual({one["status"] for one in case["findings"]}, {"suspected"})

    def test_without_a_variant_is_the_first_one(self):
        first = faults()["elided-write"][0]
        by_id = self.case("--fault", "elided-write", code=1)
        by_variant = self.case("--fault", f"elided-write:{first}", code=1)
        other = self.case("--fault", "elided-write:last-layer", code=1)
        self.assertEqual(essence(by_id), essence(by_variant))
        self.assertNotEqual(essence(by_id), essence(other))

    def test_takes_the_options_it_needs_and_the_command_line_beats_them(self):
        wanted = self.case("--fault", "elided-write", code=1)
        self.assertEqual((wanted["kv_dtype"], wanted["write_path"]), ("fp8_e5m2", "two-step"))
        beaten = self.case("--fault", "elided-write", "--kv-dtype", "bf16", "--steps", 2, code=1)
        self.assertEqual((beaten["kv_dtype"], beaten["write_path"], beaten["steps"]),
                         ("bf16", "two-step", 2))
        self.assertEqual(found_in(beaten), ["elided-write"])

    def test_refuses_a_twin_of_nothing_and_faults_that_are_not_there(self):
        self.refuse("check", "--device", "host", "--clean-twin", says=["--clean-twin", "--fault"])
        variants = [f"elided-write:{variant}" for variant in faults()["elided-write"]]
        self.assertGreater(len(variants), 2)
        self.refuse("check", "--device", "host", "--fault", "elided-write:sideways",
                    says=["'elided-write:sideways'", *variants])
        self.refuse("check", "--device", "host", "--fault", "sideways", says=list(faults()))


class Blind(CommandTest):
    def told(self, text):
        """What was planted, or none; whether it was repaired."""
        self.assertEqual(text.count("Blind: "), 1, text)
        match = BLIND.search(text)
        self.assertIsNotNone(match, text)
        return match[2], match[3] is not None

    def run_blindly(self, seed, *arguments):
        paths = {name: self.folder / name for name in ("json", "html")}
        result = graphsan("check", "--device", "host", "--seed", seed, "--blind", *arguments,
                          f"--json={paths['json']}", f"--html={paths['html']}")
        self.assertEqual(result.stderr, "")
        case, = json.loads(paths["json"].read_text())["cases"]
        return result, case, {name: path.read_text() for name, path in paths.items()}

    def test_tells_truly_what_was_planted_and_only_after_the_verdict(self):
        for seed in range(20):
            result, case, files = self.run_blindly(seed)
            planted, repaired = self.told(result.stdout)
            *before, blind, summary = result.stdout.splitlines()
            self.assertRegex(blind, "^Blind: ")
            self.assertTrue(summary.startswith(SUMMARY + case["verdict"]), summary)
            self.assertIn(case["verdict"].upper(), "\n".join(before))
            self.assertEqual(case["fault"], "")
            as_told = ("--fault", planted) if planted else ("--kv-dtype", case["kv_dtype"])
            as_told += ("--clean-twin",) if repaired else ()
            again = self.case("--seed", seed, *as_told, code=result.returncode)
            self.assertEqual(essence(case), essence(again))
            if not planted:
                self.assertEqual((case["verdict"], found_in(case)), ("agreed", []))
                continue
            for place in ("\n".join(before), *files.values()):
                self.assertNotIn(planted, place)
                self.assertNotIn("--fault", place)
                self.assertNotIn("clean-twin", place)
            mechanism = planted.split(":")[0]
            self.assertEqual(found_in(case), [] if repaired else [mechanism])
            if not repaired:
                return
        self.fail("twenty draws planted no fault")

    def test_with_json_on_standard_output_tells_on_standard_error(self):
        result = graphsan("check", "--device", "host", "--blind", "--json")
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, report["exit_code"])
        self.told(result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 2, result.stderr)
        self.assertTrue(last_line(result.stderr).startswith(SUMMARY + report["verdict"]))
        self.assertEqual([case["fault"] for case in report["cases"]], [""])

    def test_plants_what_it_chooses_itself(self):
        for options in (("--fault", "elided-write"), ("--clean-twin",),
                        ("--fault", "elided-write", "--clean-twin")):
            self.refuse("check", "--device", "host", "--blind", *options,
                        says=["--blind", "--fault"])
        self.refuse("check", "--device", "host", "--blind", "--minimize",
                    says=["--blind", "--minimize"])

    def test_does_not_plant_the_same_each_time(self):
        draws = {self.told(graphsan("check", "--device", "host", "--blind").stdout)
                 for _ in range(5)}
        self.assertGreater(len(draws), 1)

    def test_the_same_seed_gives_the_same_choice(self):
        draws = {self.told(graphsan("check", "--device", "host", "--blind", "--seed", 3).stdout)
                 for _ in range(5)}
        self.assertEqual(len(draws), 1)

    def test_the_command_that_is_told_shows_the_same(self):
        for seed in range(20):
            result, case, _ = self.run_blindly(seed, "--carry")
            planted, repaired = self.told(result.stdout)
            if not planted or repaired:
                continue
            command = shlex.split(BLIND.search(result.stdout)[4])
            self.assertIn("--carry", command)
            again = graphsan(*command[1:])
            self.assertEqual(again.returncode, result.returncode)
            self.assertIn(f"SUMMARY: graphsan: {case['verdict']}", last_line(again.stdout))
            return
        self.fail("twenty draws planted no fault")


class Minimize(CommandTest):
    SIZES = ("layers", "steps", "tokens", "context")

    def minimize(self, *arguments, code):
        """The case as given, what was shrunk, and the printed command."""
        path = self.folder / "report.json"
        result = graphsan("check", "--device", "host", *arguments, "--minimize", f"--json={path}")
        self.assertEqual(result.returncode, code, result.stdout[-1000:] + result.stderr)
        printed = MINIMIZED.search(result.stdout)
        self.assertIsNotNone(printed, result.stdout[-1000:])
        self.assertTrue(last_line(result.stdout).startswith(SUMMARY))
        cases = json.loads(path.read_text())["cases"]
        case = next(case for case in cases if case["verdict"] in ("diverged", "hazard"))
        shrunk = {}
        for part in printed[2].split(", "):
            name, before, after = re.match(r"^(\w+) (\d+) to (\d+)$", part).groups()
            shrunk[name] = (int(before), int(after))
        self.assertGreaterEqual(int(printed[1]), len(shrunk))
        return case, shrunk, printed[3]

    def assert_smaller_and_the_same(self, case, shrunk, command):
        small = self.run_printed(command, code=1)
        self.assertEqual(small["verdict"], case["verdict"])
        self.assertEqual(found_in(small), found_in(case))
        self.assertGreater(len(shrunk), 0)
        for size in self.SIZES:
            if size in shrunk:
                self.assertEqual(shrunk[size], (case[size], small[size]))
                self.assertLess(small[size], case[size])
            else:
                self.assertEqual(small[size], case[size])
        self.assertEqual(small["padded"], case["padded"])
        for key in ("kv_dtype", "write_path", "mode", "batch", "layout", "generation", "seed",
                    "fault", "carry"):
            self.assertEqual(small[key], case[key], key)
        return small

    def test_prints_a_smaller_command_that_finds_the_same(self):
        case, shrunk, command = self.minimize("--fault", "elided-write", "--seed", 7, "--layout",
                                              "hnd", code=1)
        self.assertEqual(found_in(case), ["elided-write"])
        self.assertEqual(set(shrunk), set(self.SIZES))
        small = self.assert_smaller_and_the_same(case, shrunk, command)
        self.assertEqual((small["layers"], small["steps"], small["tokens"]), (1, 1, 1))

    def test_stops_where_one_step_fewer_shows_it_no_more(self):
        case, shrunk, command = self.minimize("--fault", "missing-reset:cursor", code=1)
        small = self.assert_smaller_and_the_same(case, shrunk, command)
        self.assertIn(f" --steps {small['steps']} ", command)
        fewer = command.replace(f" --steps {small['steps']} ", f" --steps {small['steps'] - 1} ")
        result = graphsan(*shlex.split(fewer)[1:])
        self.assertNotIn("missing-reset", last_line(result.stdout))

    def test_keeps_a_full_bucket_full_and_a_hazard_a_hazard(self):
        for fault, verdict, padded in (("capture-side-effect:wrapped-dummy", "diverged", False),
                                       ("missing-dependency:unharmed", "hazard", True)):
            with self.subTest(fault=fault):
                case, shrunk, command = self.minimize("--fault", fault, code=1)
                self.assertEqual((case["verdict"], case["padded"]), (verdict, padded))
                self.assert_smaller_and_the_same(case, shrunk, command)

    def test_of_several_cases_shrinks_the_first_that_diverges(self):
        case, shrunk, command = self.minimize("--kv-dtype", "bf16,fp8_e5m2", "--write-path",
                                              "insert-kv-a,insert-kv-b", code=1)
        self.assertEqual((case["kv_dtype"], case["write_path"]), ("fp8_e5m2", "insert-kv-a"))
        self.assert_smaller_and_the_same(case, shrunk, command)

    def test_with_json_on_standard_output_prints_on_standard_error(self):
        result = graphsan("check", "--device", "host", "--fault", "elided-write", "--minimize",
                          "--json")
        self.assertEqual(json.loads(result.stdout)["exit_code"], 1)
        self.assertIsNotNone(MINIMIZED.match(result.stderr), result.stderr)

    def test_says_that_there_is_nothing_to_shrink_where_nothing_diverges(self):
        for arguments, code in ((("--kv-dtype", "bf16"), 0), (("--fault", "numeric-noise"), 0),
                                (("--fault", "elided-write", "--clean-twin"), 0),
                                (("--fault", "unstable-eager"), 3)):
            with self.subTest(arguments=arguments):
                result = graphsan("check", "--device", "host", *arguments, "--minimize")
                self.assertEqual(result.returncode, code)
                self.assertIn("nothing to shrink", result.stdout)
                self.assertIsNone(MINIMIZED.search(result.stdout))


def main():
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])


if __name__ == "__main__":
    main()
