#!/usr/bin/env python3
"""Runs plug-ins, sound and broken ones, and holds the program to what it says of each.

usage: plugin_test.py PROGRAM C_COMPILER INCLUDE_FOLDER EXAMPLE [unittest options]

Everything runs on the host device. Needs the standard library only.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = COMPILER = INCLUDE = EXAMPLE = ""
TIMEOUT_S = 120


def graphsan(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=TIMEOUT_S)


class PluginTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def library(self, source, *options, language="c"):
        path = self.folder / "step.c"
        path.write_text(source)
        made = self.folder / "libstep.so"
        subprocess.run([COMPILER, "-x", language, "-shared", "-fPIC", f"-I{INCLUDE}", *options, path,
                        "-o", made], check=True)
        return made


class Example(PluginTest):
    def check(self, bug, *options):
        path = self.folder / "report.json"
        result = graphsan("check", "--device", "host", "--step", EXAMPLE, "--step-options", bug,
                          f"--json={path}", *options)
        report = json.loads(path.read_text())
        case, = report["cases"]
        self.assertEqual(result.returncode, report["exit_code"])
        self.assertIn(f"SUMMARY: graphsan: {report['verdict']}", result.stdout.splitlines()[-1])
        return result, case

    def found(self, case):
        return [(one["mechanism"], one["status"]) for one in case["findings"]]

    def test_a_sound_step_agrees(self):
        result, case = self.check("")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual((case["rows_compared"], case["replays"], case["nodes"]), (12, 4, 2))
        self.assertTrue(case["padded"])
        self.assertEqual(case["kv_dtype"], "f32")

    def test_mechanisms_of_a_foreign_step_are_named(self):
        # Padding is confirmed by filling the bucket, and a plug-in has no other number of lanes.
        for bug, mechanism, status in (("elide", "elided-write", "confirmed"),
                                       ("frozen", "frozen-scalar", "confirmed"),
                                       ("wrap", "padding-write", "suspected")):
            with self.subTest(bug=bug):
                result, case = self.check(bug)
                self.assertEqual(result.returncode, 1, result.stdout)
                self.assertEqual(self.found(case), [(mechanism, status)])
                place = case["findings"][0]["where"][0]
                self.assertEqual((place["cache"], place["source"]), ("key", "paged_write.c: write"))

    def test_a_write_beyond_the_cache_is_found_in_its_guard_zone(self):
        result, case = self.check("stray")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual([one["mechanism"] for one in case["findings"]], ["wrong-everywhere"])
        self.assertIn("guard", result.stdout)

    def test_a_graph_is_not_blamed_for_a_row_that_eager_leaves_out(self):
        result, case = self.check("wrong-eager")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(case["verdict"], "diverged")
        rows = case["row_differences"]["differences"]
        self.assertEqual({one["class"] for one in rows}, {"eager-missing"})
        self.assertEqual([(one["step"], one["page"], one["slot"]) for one in rows],
                         [(step, 2, step) for step in range(4)])
        self.assertEqual(self.found(case), [("wrong-everywhere", "confirmed")])
        self.assertIn("The graph is not to blame", case["findings"][0]["summary"])
        self.assertEqual(case["chain"], [])
        self.assertIn("every one of the 12 rows that the slot mapping names is written by the graph",
                      [one["why"] for one in case["ruled_out"] if one["mechanism"] == "elided-write"])

    def test_a_step_that_does_nothing_never_agrees(self):
        result, case = self.check("idle")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(case["nodes"], 0)

    def test_an_error_says_what_the_plugin_said_and_where(self):
        result, case = self.check("fail")
        self.assertEqual(result.returncode, 4, result.stdout)
        self.assertEqual(case["verdict"], "inconclusive")
        self.assertIn("prepare() of step 1, eager arm returned 7: the scheduler lost sequence 2",
                      case["failure"]["what"])

    def test_a_crash_costs_the_case_and_leaves_a_readable_recording(self):
        recording = self.folder / "run.graphsan"
        result, case = self.check("crash", "--record", recording)
        self.assertEqual(result.returncode, 4, result.stdout)
        self.assertIn("signal 11", case["failure"]["what"])
        self.assertEqual((case["failure"]["phase"], case["failure"]["step"]), ("control", 1))
        self.assertNotIn("other cases", case["failure"]["remedy"])
        again = graphsan("report", recording)
        self.assertIn("signal 11", again.stdout + again.stderr)

    def test_the_printed_command_shows_the_same(self):
        _, case = self.check("elide", "--carry")
        words = case["reproduce"].split()
        self.assertIn("--step-options", words)
        self.assertIn("--carry", words)
        self.assertEqual(graphsan(*words[1:]).returncode, 1)


class Unusable(PluginTest):
    """Bad usage: exit 2, and what to do."""

    def refuse(self, step, *says, options=()):
        result = graphsan("check", "--device", "host", "--step", step, *options)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for words in says:
            self.assertIn(words, result.stderr)
        self.assertIn("SUMMARY: graphsan: bad usage", result.stdout.splitlines()[-1])

    def test_a_file_that_is_not_there_or_no_library(self):
        self.refuse(self.folder / "libnone.so", "no such file", "graphsan_plugin()")
        junk = self.folder / "libjunk.so"
        junk.write_text("not a library")
        self.refuse(junk, "cannot be loaded", "ldd")
        self.refuse("some-model", "neither minimax-m3 nor the path of a plug-in")

    def test_a_library_without_the_symbol(self):
        self.refuse(self.library("int other(void) { return 0; }"), "exports no graphsan_plugin()",
                    "<graphsan/plugin.h>")

    def test_another_abi_version(self):
        source = ('#include <graphsan/plugin.h>\n'
                  'static const graphsan_plugin_table table = {.abi_version = 99};\n'
                  'const graphsan_plugin_table* graphsan_plugin(void) { return &table; }\n')
        self.refuse(self.library(source), "built for plug-in ABI 99, and this is ABI 1",
                    "build it again")

    def test_a_table_without_a_function_that_it_needs(self):
        source = ('#include <graphsan/plugin.h>\n'
                  'static const graphsan_plugin_table table = {\n'
                  '    .abi_version = GRAPHSAN_PLUGIN_ABI, .struct_size = sizeof(table)};\n'
                  'const graphsan_plugin_table* graphsan_plugin(void) { return &table; }\n')
        self.refuse(self.library(source), "its table lacks create, destroy, describe")

    def test_options_that_only_the_built_in_step_has(self):
        for option, value in (("--kv-dtype", "bf16"), ("--tokens", 3), ("--fault", "elided-write"),
                              ("--mode", "full")):
            self.refuse(EXAMPLE, option, "built-in step", options=(option, value))
        self.refuse(EXAMPLE, "--minimize", options=("--minimize",))
        self.refuse(EXAMPLE, "--blind", options=("--blind",))
        self.refuse("minimax-m3", "--step-options", options=("--step-options", "x"))


class Failing(PluginTest):
    """Failures of the step: exit 4, never a verdict about a graph."""

    TABLE = '''
#include <graphsan/plugin.h>
#include <unistd.h>
static const graphsan_host* host;
static graphsan_cache cache = {.struct_size = sizeof(cache), .name = "key", .dtype = GRAPHSAN_F32,
                               .pages = 1, .page_size = 4, .heads = 1, .dim = 4};
static int64_t slot;
static int create(const graphsan_host* given, const char* options, void** self) {
  (void)options;
  host = given;
  cache.data = host->allocate(host, "key", 64);
  *self = &cache;
  return 0;
}
static void destroy(void* self) { (void)self; }
static int describe(void* self, graphsan_description* out) {
  (void)self;
  out->steps = STEPS;
  out->cache_count = 1;
  out->caches = &cache;
  return 0;
}
static int batch(void* self, int32_t step, graphsan_batch* out) {
  (void)self;
  slot = step;
  out->tokens = out->bucket = 1;
  out->slots = &slot;
  return 0;
}
static int prepare(void* self, const graphsan_call* call) { (void)self; (void)call; return 0; }
static int run(void* self, const graphsan_call* call) {
  (void)self;
  RUN
}
static const graphsan_plugin_table table = {
    GRAPHSAN_PLUGIN_ABI, 0, sizeof(table), "test", create, destroy, describe, batch, prepare, run};
const graphsan_plugin_table* graphsan_plugin(void) { return &table; }
'''

    def fails(self, run, *says, steps=2, options=()):
        library = self.library(self.TABLE, f"-DRUN={run}", f"-DSTEPS={steps}")
        result = graphsan("check", "--device", "host", "--step", library, *options)
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        for words in says:
            self.assertIn(words, " ".join(result.stdout.split()))
        self.assertNotIn("diverged", result.stdout)
        self.assertNotIn("agreed:", result.stdout)

    def test_a_call_that_a_capture_forbids_is_named(self):
        fill = "host->fill(host, call->stream, cache.data, 1, 16);"
        self.fails(f"{fill} if (call->capturing) host->synchronize(host, call->stream); return 0;",
                  "run() of a dummy batch of 1, graph arm, while capturing", "synchronize")

    def test_an_exception_that_leaves_the_plugin(self):
        source = self.TABLE.replace("static int run(", "#include <stdexcept>\nstatic int run(")
        source = source.replace("  RUN\n", '  throw std::runtime_error{"no such sequence"};\n')
        library = self.library(source, "-DSTEPS=2", "-std=c++20", "-lstdc++", language="c++")
        result = graphsan("check", "--device", "host", "--step", library)
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertIn("run() of step 0, eager arm threw an exception, which may not leave a "
                      "plug-in: no such sequence", " ".join(result.stdout.split()))

    def test_memory_that_is_asked_for_outside_create(self):
        self.fails('return host->allocate(host, "late", 16) == 0;', "outside create()")

    def declare(self, edit, *says):
        """What a description that describes no memory is refused with."""
        before, after = edit
        self.assertIn(before, self.TABLE)
        library = self.library(self.TABLE.replace(before, after), "-DRUN=return 0;", "-DSTEPS=2")
        result = graphsan("check", "--device", "host", "--step", library)
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        for words in says:
            self.assertIn(words, " ".join(result.stdout.split()))

    def test_declarations_that_describe_no_memory(self):
        self.declare(("slot = step;", "slot = step + 4;"), "lane 0 must write row 4", "rows 0 to 3")
        self.declare(("out->caches = &cache;", "out->caches = 0;"), "caches", "null")
        self.declare((".struct_size = sizeof(cache)", ".struct_size = 0"), "struct_size")
        self.declare((".dim = 4}", ".dim = 8}"), "takes 128 bytes, and 64 of them lie in")
        self.declare((".dim = 4}", ".dim = 4, .slot_stride = 4}"), "strides", "rows overlap")
        self.declare((".dtype = GRAPHSAN_F32", ".dtype = 77"), "dtype 77", "graphsan_dtype")
        self.declare((".dim = 4}", ".dim = 4, .sink_count = 1}"), "sinks is null")

    def test_an_exception_in_destroy_costs_nothing_more(self):
        source = self.TABLE.replace("static int run(", "#include <stdexcept>\nstatic int run(")
        source = source.replace("static void destroy(void* self) { (void)self; }",
                                "static void destroy(void*) { throw 1; }")
        library = self.library(source, "-DRUN=return 0;", "-DSTEPS=2", "-std=c++20", "-lstdc++",
                               language="c++")
        result = graphsan("check", "--device", "host", "--step", library)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)  # it writes nothing

    def test_an_abort_and_a_hang(self):
        self.fails("__builtin_trap(); return 0;", "killed by signal", "step 0")
        self.fails("for (;;) sleep(1); return 0;", "no sign of life", options=("--watchdog", 2))

    def test_a_description_of_nothing(self):
        self.fails("return 0;", "declares 0 steps", steps=0)


if __name__ == "__main__":
    PROGRAM, COMPILER, INCLUDE, EXAMPLE = sys.argv[1:5]
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
