#!/usr/bin/env python3
"""Installs GraphSan into an empty folder, builds the consumer against it, and runs it on a recording.

usage: consumer_test.py BUILD_FOLDER CMAKE CONFIGURATION
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def must(*command):
    code, output = run(*command)
    if code != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {code}:\n{output}")
    return output


def main():
    build, cmake, configuration = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix, made = folder / "prefix", folder / "made"
        must(cmake, "--install", build, "--prefix", prefix)
        must(cmake, "-S", SOURCE, "-B", made, "-G", "Ninja", f"-DCMAKE_BUILD_TYPE={configuration}",
             f"-DCMAKE_PREFIX_PATH={prefix}")
        must(cmake, "--build", made)

        recording = folder / "run.graphsan"
        code, output = run(prefix / "bin/graphsan", "check", "--device", "host", "--kv-dtype",
                           "fp8_e5m2", "--write-path", "two-step,insert-kv-a", "--record", recording)
        if code != 1:
            sys.exit(f"graphsan check ended with {code}, expected 1:\n{output}")

        lines = must(made / "consumer", recording).splitlines()
        version = must(prefix / "bin/graphsan", "--version")
        if not lines[0].startswith("graphsan ") or lines[0].split()[1].rstrip(",") not in version:
            sys.exit(f"the consumer speaks of {lines[0]!r}, the program of {version!r}")
        expected = ["fp8_e5m2 two-step: agreed", "fp8_e5m2 insert-kv-a: diverged", "  elided-write"]
        if lines[1:] != expected:
            sys.exit(os.linesep.join(["the consumer read:", *lines, "expected:", *expected]))
    print("the consumer read the recording as the program wrote it")


if __name__ == "__main__":
    main()
