#!/usr/bin/env bash
# Runs the seed scenario and checks what is known of it. The program exits 1 there, because the
# scenario diverges as it must; this script succeeds when every cell is as it should be.
# usage: scripts/run_seed.sh BUILD REPORT_FOLDER JOBS
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1 report=$2 jobs=$3

[ -f "$build/build.ninja" ] || cmake --preset dev || exit 1
cmake --build "$build" --target graphsan -j "$jobs" || exit 1

mkdir -p "$report"
"$build/graphsan" check --scenario seed \
  --html "$report/seed.html" --json="$report/seed.json" --record "$report/seed.graphsan"
code=$?
if [ "$code" -ne 1 ]; then
  echo "graphsan check --scenario seed ended with $code; 1 (diverged) was expected" >&2
  exit 1
fi

echo
python3 scripts/check_seed.py "$report/seed.json" || exit 1
echo "Report: $report/seed.html"
