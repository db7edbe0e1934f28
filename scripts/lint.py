#!/usr/bin/env python3
"""Runs clang-tidy over the C++ sources of src, probes and reports.

A source that passed is not checked again until it, a project header that it includes, its compile
command or .clang-tidy changes: BUILD/tidy-cache holds one empty file per passed state.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "probes", "reports")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def included_headers(source, roots, seen):
    """Adds to `seen` every project header that `source` reaches through quoted includes."""
    for name in INCLUDE.findall(source.read_text()):
        for folder in (source.parent, *roots):
            header = folder / name
            if header.is_file():
                if header not in seen:
                    seen.add(header)
                    included_headers(header, roots, seen)
                break


def state_of(source, command, roots):
    """A digest of all that clang-tidy's verdict on `source` depends on inside the project."""
    headers = set()
    included_headers(source, roots, headers)
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + command.encode())
    for path in [source, *sorted(headers)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def lint(source, build):
    result = subprocess.run(["clang-tidy-14", "--quiet", "-p", str(build),
                             # The compile commands are GCC's and may name warnings of its own.
                             "--extra-arg=-Wno-unknown-warning-option", str(source)],
                            capture_output=True, text=True)
    return result.returncode, result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="a configured build folder")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*", help="sources to check; all when none is given")
    options = parser.parse_args()

    build = (ROOT / options.build).resolve()
    cache = build / "tidy-cache"
    cache.mkdir(exist_ok=True)
    roots = (ROOT / "src", ROOT, build / "generated")
    only = {pathlib.Path(name).resolve() for name in options.files}

    waiting = {}
    checked = 0
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if source.suffix != ".cpp" or not any(source.is_relative_to(ROOT / f) for f in FOLDERS):
            continue
        if only and source not in only:
            continue
        checked += 1
        mark = cache / state_of(source, entry["command"], roots)
        if not mark.exists():
            waiting[source] = mark

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(lint, source, build): source for source in waiting}
        for job in concurrent.futures.as_completed(jobs):
            source = jobs[job]
            code, output = job.result()
            if code == 0:
                waiting[source].touch()
            else:
                failed += 1
                print(f"{source.relative_to(ROOT)}:\n{output}", flush=True)

    print(f"clang-tidy: {checked - failed} sources passed, {failed} failed "
          f"({checked - len(waiting)} unchanged since they last passed)")
    return 1 if failed or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
