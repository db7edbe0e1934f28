#!/usr/bin/env python3
"""Gives the program everything that it must refuse, interrupts it, and holds it to its outputs.

usage: bad_input_test.py PROGRAM [unittest options]

Everything runs on the host device. Needs the standard library only.
"""
import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
SUMMARY = "SUMMARY: graphsan: "
TIMEOUT_S = 120
NOBODY = 65534
SMALL = ("--device", "host", "--context", "2304", "--layers", "1", "--steps", "2")
DIVERGING = ("check", *SMALL, "--kv-dtype", "fp8_e5m2", "--write-path", "insert-kv-a")
AGREEING = ("check", *SMALL, "--kv-dtype", "bf16")


def graphsan(*arguments, **how):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, **how)


def last_line(text):
    lines = text.splitlines()
    return lines[-1] if lines else ""


@contextlib.contextmanager
def on_a_terminal(*arguments):
    """The program with a pseudo terminal as standard error: the process, and the terminal's end."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE,
                               stderr=theirs, text=True)
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(ours)


def read_terminal(terminal, until=None):
    """What the terminal shows, up to a match of `until` or to the end."""
    shown = b""
    while until is None or not re.search(until, shown):
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # Linux says that the other end is closed
            break
        if not chunk:
            break
        shown += chunk
    return shown


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def contents(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def scenario(self, text):
        path = self.folder / "scenario.toml"
        path.write_text(text)
        return path

    def succeed(self, *arguments, code=0):
        result = graphsan(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual([line for line in result.stderr.splitlines()
                          if not line.startswith(SUMMARY)], [])
        return result

    def refuse(self, *arguments, says, code=2, **how):
        """One short message that names what is wrong, a last line, and no file touched."""
        before = self.contents()
        result = graphsan(*arguments, **how)
        message = result.stderr.strip()
        self.assertEqual(result.returncode, code, message)
        self.assertTrue(message.startswith("graphsan: "), message)
        self.assertLess(len(message), 1200)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, message)
        for sign_of_a_crash in ("terminate called", "what():", "worker:", "\x1b"):
            self.assertNotIn(sign_of_a_crash, message)
        if arguments and arguments[0] in ("check", "report", "bench"):
            place, other = result.stdout, result.stderr
            if "--json" in arguments:
                place, other = other, place
            self.assertTrue(last_line(place).startswith(SUMMARY), place[-300:])
            self.assertNotIn(SUMMARY, other)
            if "--json" in arguments:
                self.assertEqual(result.stdout, "")
        self.assertEqual(self.contents(), before)


class Options(FolderTest):
    def test_unknown_words(self):
        for option, known in (("--kv-dtype", "fp8_e4m3"), ("--write-path", "two-step"),
                              ("--mode", "piecewise"), ("--batch", "decode"), ("--layout", "nhd"),
                              ("--generation", "a, b"), ("--convert", "native"),
                              ("--capture-at", "live"), ("--capture-metadata", "dummy"),
                              ("--fused-op", "bf16-only"), ("--break", "attention"),
                              ("--fault", "elided-write"), ("--step", "minimax-m3")):
            with self.subTest(option=option):
                self.refuse("check", "--device", "host", option, "sideways",
                            says=[option, "'sideways'", known])
        self.refuse("check", "--device", "sideways", says=["--device", "auto, cuda, host"])

    def test_a_word_in_a_list(self):
        self.refuse("check", "--device", "host", "--kv-dtype", "bf16,fp7", says="'fp7'")

    def test_numbers_out_of_range(self):
        for arguments, says in ((("--steps", 0), "--steps"), (("--steps", 10**9), "--steps"),
                                (("--page-size", 100), "16, 32, 64 or 128"),
                                (("--tokens", 8, "--bucket", 4), "--bucket 4"),
                                (("--tokens", -3), "--tokens"), (("--tokens", 0), "--tokens"),
                                (("--tokens", 10**8), "--tokens"), (("--bucket", 10**8), "--bucket"),
                                (("--tp", 3), "1, 2, 4 or 8"), (("--layers", 0), "--layers"),
                                (("--context", 0), "--context"), (("--context", 10**7), "1048576"),
                                (("--capture-limit", 0), "--capture-limit"),
                                (("--jobs", -1), "--jobs"), (("--jobs", 0), "--jobs"),
                                (("--watchdog", 0), "--watchdog"),
                                (("--watchdog", -1), "--watchdog"),
                                (("--watchdog", "nan"), "--watchdog"),
                                (("--seed", -1), "--seed"), (("--seed", 10**30), "--seed"),
                                (("--tokens", "three"), "--tokens"),
                                (("--tokens", 10**12), "--tokens")):
            with self.subTest(arguments=arguments):
                self.refuse("check", "--device", "host", *arguments, says=says)

    def test_more_memory_than_there_is(self):
        self.refuse("check", "--device", "host", "--context", 1048576, "--layers", 60, "--tp", 1,
                    "--tokens", 8, "--record", self.folder / "run.graphsan",
                    says=["GiB", "--context"])
        self.refuse("bench", "hash", "--device", "host", "--gib", 10**6, says=["--gib", "GiB free"])

    def test_a_case_that_cannot_run_stops_the_others_before_they_start(self):
        self.refuse("check", "--device", "host", "--kv-dtype", "bf16,fp8_e5m2", "--fused-op",
                    "bf16-only", "--record", self.folder / "run.graphsan",
                    says=["bf16 cache only", "two-step"])

    def test_commands_and_options_that_do_not_exist(self):
        self.refuse(says="give a command: check")
        self.refuse("frobnicate", says=["'frobnicate'", "check, report"])
        self.refuse("explain", "no-such-thing", says="elided-write")
        self.refuse("list", "no-such-thing", says="mechanisms")
        self.refuse("bench", "no-such-thing", says="hash")
        self.refuse("explain", says="Hint")
        for command in ("check", "report", "bench", "list"):
            self.refuse(command, "--no-such-option", says="Hint")
        self.refuse("check", "--json", "--no-such-option", says="--no-such-option")
        self.refuse("check", "--json", "--steps", 0, says="--steps")

    def test_bench_numbers(self):
        for arguments in (("--gib", -1), ("--gib", "nan"), ("--repeats", 0)):
            with self.subTest(arguments=arguments):
                self.refuse("bench", "hash", "--device", "host", *arguments, says=arguments[0])

    def test_the_seed_takes_no_case_options(self):
        self.refuse("check", "--scenario", "seed", "--tokens", 3, says="leave out")

    def test_a_gpu_that_is_not_there(self):
        record = self.folder / "run.graphsan"
        self.refuse("check", "--device", "cuda", "--record", record, says="no GPU", code=77)
        self.refuse("check", "--device", "cuda", "--json", says="no GPU", code=77)
        self.refuse("bench", "hash", "--device", "cuda", says="no GPU", code=77)
        record.write_text("mine")
        self.refuse("check", "--device", "cuda", "--record", record, says="not a recording")


class Scenario(FolderTest):
    def test_files_that_cannot_be_used(self):
        for text, says in (("stepz = 4\n", "'stepz'"), ("steps = = 4\n", "line 1"),
                           ("ok = 1\nsteps = [\n", "line"), ("steps = \"four\"\n", "--steps"),
                           ("steps = true\n", "'steps'"), ("steps = [1, 2]\n", "--steps"),
                           ("steps = 4.5\n", "--steps"), ("steps = {a = 1}\n", "'steps'"),
                           ("carry = 3\n", "true or false"), ("carry = \"yes\"\n", "true or false"),
                           ("kv-dtype = []\n", "--kv-dtype"), ("kv-dtype = \"fp7\"\n", "'fp7'"),
                           ("seed = -4\n", "--seed"), ("[case]\nsteps = 4\n", "'case'"),
                           ("scenario = \"seed\"\n", "'scenario'"), ("help = true\n", "'help'"),
                           ("steps = 0\n", "--steps"), ("watchdog = 0\n", "--watchdog")):
            with self.subTest(text=text):
                self.refuse("check", "--scenario", self.scenario(text), says=says)

    def test_paths_that_are_no_file(self):
        for path in (self.folder / "none.toml", self.folder):
            self.refuse("check", "--scenario", path, says=["--scenario", "TOML"])

    def test_says_what_to_run_and_the_command_line_beats_it(self):
        path = self.scenario('device = "host"\ncontext = 2304\nlayers = 1\nsteps = 2\n'
                             'kv-dtype = ["bf16", "fp8_e5m2"]\nwrite-path = "two-step"\n'
                             'mode = "full"\ncarry = true\nwatchdog = 60.5\n')
        result = self.succeed("check", "--scenario", path, "--mode", "breakable", "--json")
        report = json.loads(result.stdout)
        self.assertEqual(report["device"], "host")
        self.assertEqual([(c["kv_dtype"], c["write_path"], c["mode"]) for c in report["cases"]],
                         [("bf16", "two-step", "breakable"), ("fp8_e5m2", "two-step", "breakable")])


class Files(FolderTest):
    def record(self, *arguments, code=1):
        path = self.folder / "run.graphsan"
        self.succeed(*(arguments or DIVERGING), "--record", path, code=code)
        return path

    def test_outputs_that_cannot_be_written(self):
        for option in ("--html", "--json", "--record"):
            for place in (self.folder / "no/such/file", "/proc/file", self.folder,
                          f"{self.folder}/"):
                with self.subTest(option=option, place=place):
                    self.refuse("check", "--device", "host", f"{option}={place}", says=str(place))

    def test_a_folder_that_is_read_only(self):
        # Root may write everywhere, so root asks as nobody.
        how = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            graphsan("--version", **how)
        except PermissionError:
            self.skipTest("nobody may not run the program")
        (self.folder / "old").write_text("old")
        (self.folder / "old").chmod(0o444)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o700)
        for option in ("--html", "--json", "--record"):
            for name in ("new", "old"):
                with self.subTest(option=option, name=name):
                    self.refuse("check", "--device", "host", f"{option}={self.folder / name}",
                                says="not writable", **how)

    def test_a_foreign_file_is_not_overwritten_by_a_recording(self):
        for content in (b"my thesis", b"", b"SQLite format 3\0" + bytes(200)):
            (self.folder / "mine").write_bytes(content)
            self.refuse(*AGREEING, "--record", self.folder / "mine", says="not a recording")

    def test_two_outputs_with_one_name(self):
        path = self.folder / "same"
        for options in ((f"--html={path}", f"--json={self.folder}/./same"),
                        (f"--html={path}", f"--record={path}"),
                        (f"--json={path}", f"--record={path}")):
            with self.subTest(options=options):
                self.refuse(*AGREEING, *options, says="choose another name")

    def test_a_recording_is_not_overwritten_by_its_own_report(self):
        path = self.record()
        (self.folder / "link").symlink_to(path)
        self.refuse("report", path, f"--html={path}", says="choose another name")
        self.refuse("report", self.folder / "link", f"--json={path}", says="choose another name")

    def test_files_that_are_no_recording(self):
        html = f"--html={self.folder / 'page.html'}"
        foreign = self.folder / "foreign"
        for content in (b"", b"no recording", b"SQLite format 3\0", bytes(4096)):
            foreign.write_bytes(content)
            self.refuse("report", foreign, html, says="recording")
        self.refuse("report", self.folder / "none", html, says="does not exist")
        self.refuse("report", self.folder, html, says="folder")
        self.refuse("report", "/dev/null", "--json", says="not a recording")

    def test_a_recording_cut_anywhere(self):
        whole = self.record().read_bytes()
        cut = self.folder / "cut"
        for size in (20, 100, 4096, 5000, len(whole) // 2, len(whole) - 1):
            with self.subTest(size=size):
                cut.write_bytes(whole[:size])
                self.refuse("report", cut, f"--html={self.folder / 'page.html'}", says=str(cut))

    def test_report_checks_its_outputs_before_it_reads(self):
        self.refuse("report", self.folder / "none", "--html=/no/such/folder/page.html",
                    says="/no/such/folder")

    def test_a_case_refused_leaves_an_earlier_recording_alone(self):
        path = self.record()
        self.refuse("check", "--device", "host", "--context", 1048576, "--layers", 60, "--tp", 1,
                    "--tokens", 8, "--record", path, says="GiB")


class Outputs(FolderTest):
    def test_a_recording_gives_the_report_of_its_run(self):
        run = {name: self.folder / f"run.{name}" for name in ("graphsan", "json", "html")}
        self.succeed(*DIVERGING, "--record", run["graphsan"], f"--json={run['json']}",
                     f"--html={run['html']}", code=1)
        again = self.folder / "again.html"
        result = self.succeed("report", run["graphsan"], "--json", f"--html={again}")
        report = json.loads(result.stdout)
        self.assertEqual(report, json.loads(run["json"].read_text()))
        self.assertEqual([f["mechanism"] for f in report["cases"][0]["findings"]],
                         ["elided-write"])
        self.assertEqual(again.read_bytes(), run["html"].read_bytes())
        self.assertEqual(self.names(), ["again.html", "run.graphsan", "run.html", "run.json"])

    def test_json_is_all_that_standard_output_gets(self):
        result = self.succeed(*DIVERGING, "--json", code=1)
        self.assertEqual(json.loads(result.stdout)["exit_code"], 1)
        self.assertTrue(last_line(result.stderr).startswith(SUMMARY))
        result = self.succeed(*DIVERGING, f"--json={self.folder / 'r.json'}", code=1)
        self.assertTrue(last_line(result.stdout).startswith(SUMMARY))

    def test_an_existing_page_is_replaced_whole(self):
        page = self.folder / "page.html"
        page.write_text("old")
        self.succeed(*AGREEING, f"--html={page}")
        self.assertTrue(page.read_text().rstrip().endswith("</html>"))
        self.assertEqual(self.names(), ["page.html"])

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_output_that_does_not_fit_is_a_failure(self):
        for arguments in (AGREEING, (*AGREEING, "--json"), ("list", "mechanisms"), ("doctor",)):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *arguments], stdout=full, text=True,
                                        stderr=subprocess.PIPE, timeout=TIMEOUT_S)
                self.assertEqual(result.returncode, 4)
                self.assertIn("standard output", result.stderr)
        page = "--html=/dev/full"
        result = graphsan(*AGREEING, page)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertTrue(last_line(result.stdout).startswith(SUMMARY))

    def test_small_commands(self):
        self.assertRegex(self.succeed("--version").stdout, r"^graphsan \d+\.\d+\.\d+\n$")
        for what, word in (("steps", "minimax-m3"), ("mechanisms", "elided-write"),
                           ("faults", "elided-write:index-key"), ("devices", "host")):
            self.assertIn(word, self.succeed("list", what).stdout)
        self.assertIn("elided-write", self.succeed("explain", "elided-write").stdout)
        self.assertIn("host device", self.succeed("doctor").stdout)
        bench = self.succeed("bench", "hash", "--device", "host", "--gib", 0.03, "--repeats", 1)
        self.assertTrue(last_line(bench.stdout).startswith(SUMMARY + "bench hash: "))


class Terminal(FolderTest):
    def test_no_progress_and_no_colour_without_one(self):
        result = self.succeed(*DIVERGING, code=1)
        self.assertEqual(result.stderr, "")
        self.assertNotIn("\x1b", result.stdout)

    def test_hints_on_one_only(self):
        with on_a_terminal(*DIVERGING) as (process, terminal):
            shown = read_terminal(terminal)
            output = process.stdout.read()
            self.assertEqual(process.wait(TIMEOUT_S), 1)
        self.assertIn(b"Hint: what it is and how to fix it: graphsan explain elided-write", shown)
        self.assertNotIn("Hint: ", output)
        self.assertIn("\nRun again: graphsan check ", output)
        result = graphsan(*DIVERGING)
        self.assertNotIn("Hint: ", result.stdout + result.stderr)

    def test_progress_on_one_and_none_left_at_the_end(self):
        with on_a_terminal(*AGREEING) as (process, terminal):
            shown = read_terminal(terminal)
            self.assertEqual(process.wait(TIMEOUT_S), 0)
            self.assertIn(b"0 of 1 cases done; replay", shown)
            self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-80:])
            self.assertNotIn("\x1b", process.stdout.read())


class Interrupt(FolderTest):
    def stop(self, how):
        """Exit code and output of the seed scenario, sent a signal once two cases are done."""
        arguments = ("check", "--device", "host", "--record", self.folder / "run.graphsan")
        with on_a_terminal(*arguments) as (process, terminal):
            shown = read_terminal(terminal, until=rb"\r\x1b\[K([2-9]|[12]\d) of 39 cases done")
            self.assertRegex(shown, rb"\d+ of 39 cases done")
            process.send_signal(how)
            output = process.stdout.read()
            return process.wait(TIMEOUT_S), output

    def recorded(self):
        result = graphsan("report", self.folder / "run.graphsan", "--json")
        self.assertEqual(result.returncode, 3, result.stderr)
        report = json.loads(result.stdout)
        self.assertNotEqual(report["verdict"], "agreed")
        self.assertGreaterEqual(len(report["cases"]), 2)
        self.assertLess(len(report["cases"]), 39)
        for case in report["cases"]:
            self.assertGreater(case["rows_compared"], 0)
        return report

    def test_keeps_and_says_what_was_done(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=how):
                code, output = self.stop(how)
                self.assertEqual(code, 4, output[-300:])
                self.assertTrue(last_line(output).startswith(SUMMARY), output[-300:])
                self.assertIn("incomplete", last_line(output))
                self.assertEqual(self.names(), ["run.graphsan"])
                self.recorded()

    def test_a_killed_run_leaves_a_readable_recording(self):
        code, _ = self.stop(signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.recorded()


def main():
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])


if __name__ == "__main__":
    main()
