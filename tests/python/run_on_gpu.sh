#!/usr/bin/env bash
# The Python package on a machine with a GPU, torch and NumPy; needs no pytest and no network. Prints a
# table last, and exits 1 if a step failed.
#
# usage: GRAPHSAN_LIBRARY=.../libgraphsan.so [PYTHON=python3] run_on_gpu.sh LOG_FOLDER [PACKAGE_FOLDER EXAMPLES]
set -uo pipefail
here=$(cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")" && pwd)
if [ $# -lt 1 ] || [ -z "${GRAPHSAN_LIBRARY:-}" ]; then
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
logs=$(realpath -m "$1")
export PYTHONPATH=${2:-$here/../../python}${PYTHONPATH:+:$PYTHONPATH}
examples=$(realpath "${3:-$here/../../examples/python}")
GRAPHSAN_LIBRARY=$(realpath "$GRAPHSAN_LIBRARY")
export GRAPHSAN_LIBRARY PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-python3}
mkdir -p "$logs"
cd "$logs" || exit 2
table="" failed=0

# step NAME EXIT_CODE PATTERN... -- command...: the command must end so, and its output hold each pattern.
step() {
  local name=$1 code=$2 start=$SECONDS result=passed got pattern
  local -a patterns=()
  shift 2
  while [ "$1" != -- ]; do
    patterns+=("$1")
    shift
  done
  shift
  echo "---- $name"
  "$@" >"$name.log" 2>&1
  got=$?
  grep -vE '^ *$' "$name.log" | tail -n 24
  [ "$got" -eq "$code" ] || result="FAILED: exit code $got, $code expected" failed=1
  for pattern in "${patterns[@]}"; do
    grep -qE "$pattern" "$name.log" || result="FAILED: exit code $got, and no /$pattern/" failed=1
  done
  table+=$(printf '%-22s %4d s  %s' "$name" $((SECONDS - start)) "$result")$'\n'
}

step cases 0 'SUMMARY: gpu_cases: 0 failed' -- "$python" "$here/gpu_cases.py"
step insert_kv 0 '8 of 8 cells as predicted \(cuda' -- \
  "$python" "$examples/minimax_insert_kv.py" --device cuda --html "$logs/insert_kv"
step gemm 0 'SUMMARY: graphsan: agreed' -- "$python" "$examples/torch_gemm_step.py" --device cuda
step triton 0 'SUMMARY: graphsan: agreed' -- "$python" "$examples/triton_step.py"
step triton_frozen 1 'frozen-scalar' 'triton_step\.py:[0-9]' -- "$python" "$examples/triton_step.py" frozen
step triton_wrapped 1 'padding-write' 'triton_step\.py:[0-9]' -- "$python" "$examples/triton_step.py" wrapped
step numpy 1 'frozen-scalar' 'numpy_paged_write\.py:[0-9]' -- "$python" "$examples/numpy_paged_write.py" frozen

echo
printf '%s' "$table" | tee table.txt
exit "$failed"
