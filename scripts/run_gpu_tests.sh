#!/usr/bin/env bash
# Runs everything in this bundle that needs a GPU, and prints a table last. Exits 1 if a step failed.
#
# usage: run_gpu_tests.sh LOG_FOLDER [step...]
# steps: doctor tests contract seed selftest plugin python bench memcheck racecheck initcheck (all, in this order)
set -uo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")"
if [ $# -lt 1 ]; then
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
logs=$(realpath -m "$1")
shift
mkdir -p "$logs"
export GRAPHSAN_REQUIRE_GPU=1 GRAPHSAN_TEST_DATA=$PWD/data

declare -A names=(
  [doctor]="graphsan doctor" [tests]="GPU test programs" [contract]="contract test, cuda"
  [seed]="seed scenario, cuda" [selftest]="selftest, cuda"
  [plugin]="CUDA plug-ins, library" [python]="Python package, torch" [bench]="graphsan bench hash" [memcheck]="compute-sanitizer memcheck"
  [racecheck]="compute-sanitizer racecheck" [initcheck]="compute-sanitizer initcheck")

step_doctor() { ./graphsan doctor; }

# Fails when a test failed, was skipped, or when a program had none.
step_tests() {
  local program output code failed=0
  for program in tests/*; do
    echo "== $program"
    output=$("$program" --gtest_brief=1 2>&1)
    code=$?
    echo "$output"
    if [ "$code" -ne 0 ] || grep -qE 'SKIPPED|from 0 tests? ' <<<"$output" ||
       grep -q '^\[==========\] 0 tests' <<<"$output"; then
      failed=1
    fi
  done
  return "$failed"
}

step_contract() { python3 contract_test.py ./graphsan --device cuda; }

step_seed() {
  ./graphsan check --scenario seed --device cuda --html "$logs/seed.html" "--json=$logs/seed.json"
  [ $? -eq 1 ] && python3 check_seed.py "$logs/seed.json" --device cuda
}

step_selftest() { ./graphsan selftest --device cuda "--json=$logs/selftest.json"; }

step_plugin() {
  python3 plugin_gpu_test.py ./graphsan ./libpaged_write_cuda.so &&
    python3 own_capture_gpu_test.py ./graphsan ./libown_capture_plugin.so ./libgraphsan.so
}

# Needs a python3 with torch and NumPy.
step_python() {
  GRAPHSAN_LIBRARY=$PWD/libgraphsan.so python/run_on_gpu.sh "$logs/python" "$PWD/python" "$PWD/python/examples"
}

step_bench() { ./graphsan bench hash; }

# Runs a check under compute-sanitizer: it writes by each path, padded, so that every kernel of the step
# and of the hashing runs. It diverges, exit code 1; the sanitizer's own errors exit 99. API errors are
# not the sanitizer's to judge here: a kernel's arguments are counted by asking until CUDA says no.
sanitize() {
  local tool=$1 code
  shift
  compute-sanitizer --tool "$tool" --report-api-errors no --target-processes all \
    --error-exitcode 99 ./graphsan check --device cuda --mode full --tokens 3 --bucket 4 "$@"
  code=$?
  echo "exit code $code, 1 expected"
  [ "$code" -eq 1 ]
}
all_paths=(--kv-dtype "bf16,fp8_e5m2" --write-path "fused,two-step,insert-kv-b")
# racecheck is slow where kernels use shared memory: one path, one layer, a short context.
few_paths=(--kv-dtype fp8_e5m2 --write-path insert-kv-b --context 256 --steps 2 --layers 1
  --watchdog 1000)
step_memcheck() { sanitize memcheck "${all_paths[@]}"; }
step_racecheck() { sanitize racecheck "${few_paths[@]}"; }
step_initcheck() { sanitize initcheck "${all_paths[@]}"; }

all=(doctor tests contract seed selftest plugin python bench memcheck racecheck initcheck)
[ $# -gt 0 ] && all=("$@")
failed=0
table=""
for step in "${all[@]}"; do
  if [ -z "${names[$step]:-}" ]; then
    echo "no step is called $step" >&2
    exit 2
  fi
  echo "---- ${names[$step]}"
  start=$SECONDS
  if "step_$step" 2>&1 | tee "$logs/$step.log"; then result=passed; else result=FAILED failed=1; fi
  table+=$(printf '%-30s %-7s %5d s' "${names[$step]}" "$result" $((SECONDS - start)))$'\n'
done

echo
printf '%s' "$table" | tee "$logs/table.txt"
exit "$failed"
