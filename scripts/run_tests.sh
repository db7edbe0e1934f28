#!/usr/bin/env bash
# Runs every test of a build folder; the last line is ctest's own count.
# usage: scripts/run_tests.sh BUILD JOBS [ctest options...]
set -uo pipefail
build=$1 jobs=$2
shift 2
log=$build/ctest.log

ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$jobs" "$@" 2>&1 | tee "$log"
code=$?
grep -E '^[0-9]+% tests passed' "$log" || true
exit "$code"
