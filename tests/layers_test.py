#!/usr/bin/env python3
"""Checks every include, every CMake link and every folder's README against the layers.

The tables below are the layers: docs/architecture.md explains them, and a change of one is a change
of the other. Run it alone with `make layers`; the second half of the file plants violations and
sees them found.
"""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Lines of the diagram from the floor up: a module sees lower lines, never one beside it.
LINES = (
    ("model", "device"),
    ("kvcache",),
    ("step",),
    ("torch",),
    ("run", "trace", "record"),
    ("diagnose",),
    ("probes", "faults", "reports"),
    ("check",),
    ("cli", "attach", "capi"),
)
LINE_OF = {module: line for line, modules in enumerate(LINES) for module in modules}


def below(module):
    """Every module on a lower line, but libtorch's, which is loaded on demand and never linked."""
    return {m for m, line in LINE_OF.items() if line < LINE_OF[module]} - {"torch"}


# What the table allows each module; never more than the lines allow.
MAY_INCLUDE = {
    "model": set(),
    "device": set(),
    "kvcache": {"model", "device"},
    "step": {"model", "device", "kvcache"},
    "torch": below("torch"),
    "trace": {"model", "device"},
    "run": {"model", "device", "kvcache", "step"},
    "record": {"model"},
    "diagnose": below("diagnose"),
    "probes": {"model", "diagnose"},
    "faults": {"model", "device", "kvcache", "step"},
    "reports": {"model"},
    "check": below("check"),
    "cli": below("cli"),
    "attach": below("attach"),
    "capi": below("capi"),
}

# Third-party packages: the headers and CMake targets that name them, and who may use them.
PACKAGES = {
    "CUDA": (r"cuda.*|cub/.*|nv/.*|cooperative_groups.*|vector_types\.h", r"CUDA::(?!cupti).*",
             {"device", "kvcache", "step", "faults", "trace", "torch", "attach"}),
    "CUPTI": (r"cupti.*|generated_cuda.*_meta\.h", r"CUDA::cupti.*", {"trace", "attach"}),
    "libtorch": (r"torch/.*|ATen/.*|c10/.*", r"torch.*", {"torch"}),
    "xxhash": (r"xxhash\.h|xxh3\.h", r"graphsan::xxhash", {"kvcache"}),
    "SQLite": (r"sqlite3\.h", r"SQLite::.*", {"record"}),
    "nlohmann-json": (r"nlohmann/.*", r"nlohmann_json::.*", {"record", "reports"}),
    "pugixml": (r"pugixml\.hpp", r"pugixml::.*", {"reports"}),
    "fmt": (r"fmt/.*", r"fmt::.*", set(LINE_OF)),
    "GoogleTest": (r"g(test|mock)/.*", r"GTest::.*", {"capi"}),  # the matcher's header
    "CLI11": (r"CLI/.*", r"CLI11::.*", {"cli"}),
    "toml++": (r"toml\+\+/.*", r"graphsan::toml|tomlplusplus::.*", {"cli"}),
    "POSIX": (r"(dlfcn|fcntl|link|poll|pthread|sched|signal|spawn|termios|unistd)\.h|sys/.*|linux/.*",
              r"Threads::Threads|dl|m", set(LINE_OF) - {"model", "reports", "probes"}),
}
GENERATED = {"graphsan/version.hpp"}       # made by the build; for everybody
PUBLIC_C = {"graphsan/plugin.h"}           # the C ABI of steps, which includes nothing of the project's
FMT_IN_HEADERS = {"reports", "cli"}        # elsewhere fmt belongs in a .cpp
NOT_UNDER_NVCC = ("fmt", "libtorch")       # neither compiles there
STANDARD = re.compile(r"[a-z0-9_]+|(cxxabi|stddef|stdint)\.h")  # <vector>, <cstdint>
SOURCES = {".cpp", ".hpp", ".h", ".cu", ".cuh"}
README_LINES = 30
FILE_LINES = 500

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
CALL = re.compile(r"\b(graphsan_library|target_link_libraries)\s*\(([^()]*)\)")
COMMENT = re.compile(r"#.*")
GENERATOR = re.compile(r"\$<BUILD_INTERFACE:([^<>]*)>")


class Tree:
    """The sources under one root, and the violations found in them."""

    def __init__(self, root):
        self.root = root
        self.violations = []
        self.used = {}  # module -> {what it includes: a file that does}

    def complain(self, path, text):
        self.violations.append(f"{path.relative_to(self.root)}: {text}")

    def module_of(self, path):
        parts = path.relative_to(self.root).parts
        if parts[0] == "src" and len(parts) > 2:
            return parts[1]
        if parts[0] == "probes":
            planted = path.stem.startswith("fault") or "fault_ops" in parts[1:-1]
            return "faults" if planted else "probes"
        return {"reports": "reports", "include": "capi"}.get(parts[0])

    def sources(self):
        for folder in ("src", "probes", "reports", "include"):
            for path in sorted((self.root / folder).rglob("*")):
                if path.suffix in SOURCES and path.is_file():
                    yield path

    def resolve(self, source, name):
        """The project file that `#include "name"` in `source` means; None where it is no such file."""
        for folder in (source.parent, self.root / "src", self.root, self.root / "include"):
            if (folder / name).is_file():
                return (folder / name).resolve()
        return None

    def package_of(self, name):
        for package, (headers, _, _) in PACKAGES.items():
            if re.fullmatch(headers, name):
                return package
        return None

    def check_includes(self):
        for source in self.sources():
            module = self.module_of(source)
            if module not in MAY_INCLUDE:
                self.complain(source, "lies in a folder that the table does not know")
                continue
            for bracket, name in INCLUDE.findall(source.read_text()):
                if name in GENERATED | PUBLIC_C:
                    continue
                ours = bracket == '"' or name.startswith("graphsan/")  # or a public header
                target = self.resolve(source, name) if ours else None
                if target is not None:
                    self.check_module(source, module, self.module_of(target), name)
                elif name.split("/")[0] in MAY_INCLUDE:  # a header made by the build
                    self.check_module(source, module, name.split("/")[0], name)
                else:
                    self.check_package(source, module, name)
            if source.suffix in (".cu", ".cuh"):
                self.check_under_nvcc(source)

    def check_module(self, source, module, included, name):
        if included == module:
            return
        self.used.setdefault(module, {}).setdefault(included, source)
        if included not in MAY_INCLUDE[module]:
            self.complain(source, f"{module} may not include {name} of {included}")

    def check_package(self, source, module, name):
        package = self.package_of(name)
        if package is None:
            if not STANDARD.fullmatch(name):
                self.complain(source, f"<{name}> is neither of the standard library nor in the table")
        elif module not in PACKAGES[package][2]:
            self.complain(source, f"{module} may not include <{name}> of {package}")
        elif package == "fmt" and source.suffix != ".cpp" and module not in FMT_IN_HEADERS:
            self.complain(source, f"<{name}> belongs in a .cpp")

    def check_under_nvcc(self, source):
        """Walks what a CUDA file reaches, for headers that do not compile there."""
        waiting, seen = [source], set()
        while waiting:
            file = waiting.pop()
            for bracket, name in INCLUDE.findall(file.read_text()):
                if self.package_of(name) in NOT_UNDER_NVCC:
                    self.complain(source, f"nvcc would compile <{name}>, by way of {file.name}")
                target = self.resolve(file, name) if bracket == '"' else None
                if target is not None and target not in seen:
                    seen.add(target)
                    waiting.append(target)

    def links(self):
        """(CMakeLists.txt, module, what it links) for every link of a module's own targets."""
        for folder in ("src", "probes", "reports"):
            for path in sorted((self.root / folder).rglob("CMakeLists.txt")):
                text = GENERATOR.sub(r"\1", COMMENT.sub("", path.read_text()))
                for call, arguments in CALL.findall(text):
                    target, *rest = arguments.split()
                    module = self.module_of(path)
                    if target in ("faults", "graphsan_faults"):
                        module = "faults"
                    yield path, module, [word for word in rest if self.is_link(word)]

    @staticmethod
    def is_link(word):
        return "::" in word or word.startswith("graphsan_")

    def check_links(self):
        linked = {}
        for path, module, words in self.links():
            if module not in MAY_INCLUDE:
                continue
            for word in words:
                name = re.sub(r"^graphsan(::|_)", "", word)
                if name in MAY_INCLUDE:
                    linked.setdefault(module, set()).add(name)
                    if name not in MAY_INCLUDE[module] and name != module:
                        self.complain(path, f"{module} may not link {word}")
                else:
                    self.check_package_link(path, module, word)
        for module, used in self.used.items():
            for included in sorted(set(used) - self.closure(module, linked)):
                self.complain(used[included], f"{module} includes {included}, which CMake does not link")

    @staticmethod
    def closure(module, linked):
        """Every module that `module` reaches through its links."""
        waiting, seen = [module], set()
        while waiting:
            for name in linked.get(waiting.pop(), set()) - seen:
                seen.add(name)
                waiting.append(name)
        return seen

    def check_package_link(self, path, module, word):
        for package, (_, targets, users) in PACKAGES.items():
            if re.fullmatch(targets, word) and module not in users:
                self.complain(path, f"{module} may not link {word} of {package}")

    def check_readmes(self):
        patterns = ("src/*", "probes", "probes/*", "reports", "tests/*", "scripts", "cmake", "docs",
                    "examples/*")
        for pattern in patterns:
            for folder in sorted(self.root.glob(pattern)):
                if not folder.is_dir() or folder.name.startswith(("__", ".")) or not any(folder.iterdir()):
                    continue
                readme = folder / "README.md"
                if not readme.is_file():
                    self.complain(folder, "has no README.md")
                elif len(readme.read_text().splitlines()) > README_LINES:
                    self.complain(readme, f"is longer than {README_LINES} lines")

    def check_sizes(self):
        for source in self.sources():
            lines = len(source.read_text().splitlines())
            if lines > FILE_LINES:
                self.complain(source, f"has {lines} lines, more than {FILE_LINES}")

    def check(self):
        self.check_includes()
        self.check_links()
        self.check_readmes()
        self.check_sizes()
        return self.violations


class Layers(unittest.TestCase):
    def test_the_project_keeps_them(self):
        tree = Tree(ROOT)
        self.assertGreater(len(list(tree.sources())), 0)
        violations = tree.check()
        if violations:
            self.fail("\n".join(["the layers are broken:", *violations]))

    def test_the_table_never_allows_more_than_the_lines(self):
        for module, allowed in MAY_INCLUDE.items():
            for other in allowed:
                self.assertLess(LINE_OF[other], LINE_OF[module], f"{module} includes {other}")


class Checker(unittest.TestCase):
    """Each test plants one violation in a small tree and expects exactly that complaint."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()
        self.write("src/model/digest.hpp", "#include <vector>\n")
        self.write("src/model/README.md", "# model\n")
        self.write("src/model/CMakeLists.txt", "graphsan_library(model SOURCES digest.cpp)\n")
        self.write("src/kvcache/hash.cpp", '#include "model/digest.hpp"\n#include <xxhash.h>\n')
        self.write("src/kvcache/README.md", "# kvcache\n")
        self.write("src/kvcache/CMakeLists.txt",
                   "graphsan_library(kvcache SOURCES hash.cpp PUBLIC graphsan::model)\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect(self, *parts):
        violations = Tree(self.root).check()
        self.assertEqual(len(violations), 1, violations)
        for part in parts:
            self.assertIn(part, violations[0])

    def test_is_silent_on_a_sound_tree(self):
        self.assertEqual(Tree(self.root).check(), [])

    def test_finds_an_include_of_a_higher_line(self):
        self.write("src/step/step.hpp", "")
        self.write("src/step/README.md", "# step\n")
        self.write("src/kvcache/CMakeLists.txt", "")
        self.write("src/kvcache/hash.cpp", '#include "step/step.hpp"\n')
        violations = Tree(self.root).check()
        self.assertIn("kvcache may not include step/step.hpp of step", violations[0])

    def test_finds_a_module_that_includes_the_librarys_public_header(self):
        self.write("include/graphsan/check.h", "#include <graphsan/plugin.h>\n")
        self.write("include/README.md", "# include\n")
        self.write("src/kvcache/hash.cpp", '#include "model/digest.hpp"\n#include <graphsan/check.h>\n')
        violations = Tree(self.root).check()
        self.assertIn("kvcache may not include graphsan/check.h of capi", violations[0])

    def test_finds_an_include_beside(self):
        self.write("src/device/device.hpp", '#include "model/digest.hpp"\n')
        self.write("src/device/README.md", "# device\n")
        self.write("src/device/CMakeLists.txt", "graphsan_library(device SOURCES d.cpp)\n")
        violations = Tree(self.root).check()
        self.assertIn("device may not include model/digest.hpp of model", violations[0])

    def test_finds_a_relative_way_into_another_module(self):
        self.write("src/model/digest.hpp", '#include "../kvcache/hash.hpp"\n')
        self.write("src/kvcache/hash.hpp", "")
        violations = Tree(self.root).check()
        self.assertIn("model may not include ../kvcache/hash.hpp of kvcache", violations[0])

    def test_finds_a_probe_that_knows_its_fault(self):
        self.write("probes/README.md", "# probes\n")
        self.write("probes/elided/README.md", "# elided\n")
        self.write("probes/elided/fault.hpp", "")
        self.write("probes/elided/probe.cpp", '#include "probes/elided/fault.hpp"\n')
        violations = Tree(self.root).check()
        self.assertIn("probes may not include probes/elided/fault.hpp of faults", violations[0])

    def test_finds_a_probe_that_knows_a_planted_kernel(self):
        self.write("probes/README.md", "# probes\n")
        self.write("probes/fault_ops/README.md", "# fault_ops\n")
        self.write("probes/fault_ops/fill.hpp", "")
        self.write("probes/elided/README.md", "# elided\n")
        self.write("probes/elided/probe.cpp", '#include "probes/fault_ops/fill.hpp"\n')
        violations = Tree(self.root).check()
        self.assertIn("probes may not include probes/fault_ops/fill.hpp of faults", violations[0])

    def test_lets_planted_kernels_and_no_probe_use_cuda(self):
        self.write("probes/README.md", "# probes\n")
        self.write("probes/fault_ops/README.md", "# fault_ops\n")
        self.write("probes/fault_ops/fill.cu", "#include <cuda_runtime.h>\n")
        self.write("probes/CMakeLists.txt", "graphsan_library(probes SOURCES p.cpp)\n"
                   "graphsan_library(faults SOURCES f.cpp)\n"
                   "target_link_libraries(graphsan_faults PRIVATE CUDA::cudart_static)\n")
        self.assertEqual(Tree(self.root).check(), [])
        self.write("probes/elided/README.md", "# elided\n")
        self.write("probes/elided/probe.cpp", "#include <cuda_runtime.h>\n")
        self.expect("probes may not include <cuda_runtime.h> of CUDA")

    def test_finds_a_third_party_header_out_of_its_home(self):
        self.write("src/kvcache/hash.cpp", "#include <sqlite3.h>\n")
        self.expect("kvcache may not include <sqlite3.h> of SQLite")

    def test_finds_a_header_that_the_table_does_not_know(self):
        self.write("src/kvcache/hash.cpp", "#include <boost/any.hpp>\n")
        self.expect("<boost/any.hpp> is neither")

    def test_finds_a_formatting_header_in_a_header(self):
        self.write("src/kvcache/hash.hpp", "#include <fmt/format.h>\n")
        self.expect("hash.hpp", "belongs in a .cpp")

    def test_finds_a_formatting_header_that_nvcc_would_reach(self):
        self.write("src/kvcache/row.cu", '#include "row.hpp"\n')
        self.write("src/kvcache/row.hpp", '#include "row_words.cpp"\n')
        self.write("src/kvcache/row_words.cpp", "#include <fmt/format.h>\n")
        self.expect("row.cu", "nvcc would compile <fmt/format.h>, by way of row_words.cpp")

    def test_finds_a_link_that_the_table_forbids(self):
        self.write("src/model/CMakeLists.txt",
                   "graphsan_library(model SOURCES digest.cpp PRIVATE graphsan::kvcache)\n")
        self.expect("CMakeLists.txt", "model may not link graphsan::kvcache")

    def test_finds_a_package_link_that_the_table_forbids(self):
        self.write("src/kvcache/CMakeLists.txt", "graphsan_library(kvcache PUBLIC graphsan::model)\n"
                   "target_link_libraries(graphsan_kvcache PRIVATE SQLite::SQLite3)\n")
        self.expect("kvcache may not link SQLite::SQLite3 of SQLite")

    def test_finds_an_include_without_a_link(self):
        self.write("src/kvcache/CMakeLists.txt", "graphsan_library(kvcache SOURCES hash.cpp)\n")
        self.expect("kvcache includes model, which CMake does not link")

    def test_accepts_a_link_by_way_of_another(self):
        self.write("src/step/README.md", "# step\n")
        self.write("src/step/step.cpp", '#include "model/digest.hpp"\n')
        self.write("src/step/CMakeLists.txt", "graphsan_library(step PUBLIC graphsan::kvcache)\n")
        self.assertEqual(Tree(self.root).check(), [])

    def test_finds_a_folder_without_a_readme(self):
        (self.root / "src/kvcache/README.md").unlink()
        self.expect("src/kvcache", "has no README.md")

    def test_finds_a_readme_that_is_too_long(self):
        self.write("src/kvcache/README.md", "line\n" * (README_LINES + 1))
        self.expect("README.md", "longer than 30 lines")

    def test_finds_a_file_that_is_too_long(self):
        self.write("src/kvcache/long.cpp", "\n" * (FILE_LINES + 1))
        self.expect("long.cpp", "more than 500")


if __name__ == "__main__":
    unittest.main()
