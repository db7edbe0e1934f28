"""The C, C++, CMake and shell of docs/own-steps.md build and run as they stand there, over an installation."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "own-steps.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?://|#|/\*) ([\w.]+)(?: \*/)?$")
RUN_BY_ANOTHER_TEST = {"python"}  # test_docs.py
FILES = {"cpp": {"insert_kv_test.cpp"}, "c": {"write_row.c", "check_row.c"}, "cmake": {"CMakeLists.txt"}}


def blocks():
    """(language, text) of every block, in the page's order."""
    return BLOCK.findall(PAGE.read_text())


def file_name(text):
    """The name that the first line of a source block gives it."""
    named = NAME.match(text.splitlines()[0])
    assert named, f"the first line must name the file: {text.splitlines()[0]}"
    return named.group(1)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation of the build that the library is of."""
    build = pathlib.Path(os.environ.get("GRAPHSAN_LIBRARY", "none")).resolve().parent
    if not (build / "cmake_install.cmake").exists() or not (build / "graphsan").exists():
        pytest.skip(f"{build} is no build folder with the program, so there is nothing to install")
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(["cmake", "--install", build, "--prefix", folder], check=True, capture_output=True)
    return folder


def test_every_block_is_run_by_a_test():
    found = {}
    for language, text in blocks():
        if language not in RUN_BY_ANOTHER_TEST | {"sh"}:
            assert language in FILES, f"a block in {language or 'no language'} that no test runs"
            found.setdefault(language, set()).add(file_name(text))
    assert found == FILES


def test_every_command_does_what_the_page_says(prefix, tmp_path):
    environment = {**os.environ, "GRAPHSAN": str(prefix)}
    environment.pop("GRAPHSAN_LIBRARY", None)
    said = {}
    for language, text in blocks():
        if language in FILES:
            (tmp_path / file_name(text)).write_text(text)
        if language != "sh":
            continue
        for line in text.splitlines():
            result = subprocess.run(
                line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
            )
            assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"
            said[line.split()[0]] = result.stdout
    assert "[  PASSED  ] 1 test." in said["build/insert_kv_test"]
    for checked in ("$GRAPHSAN/bin/graphsan", "./check_row"):
        assert "SUMMARY: graphsan: agreed" in said[checked], said[checked]
        assert "4 rows compared, 4 replays, 1 node" in said[checked], said[checked]


def test_the_sources_compile_without_a_warning(prefix, tmp_path):
    for language, text in blocks():
        if language not in ("c", "cpp"):
            continue
        source = tmp_path / file_name(text)
        source.write_text(text)
        compiler = shutil.which("cc" if language == "c" else "c++")
        standard = "-std=c11" if language == "c" else "-std=c++17"
        warnings = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        subprocess.run([compiler, standard, *warnings, f"-I{prefix}/include", source], check=True)
