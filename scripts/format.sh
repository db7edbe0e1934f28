#!/usr/bin/env bash
# Formats the project's C++ and CUDA sources; with --check, fails where that would change one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

options=(-i)
if [ "${1:-}" = "--check" ]; then options=(--dry-run --Werror); fi
git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh' |
  xargs -0 -r clang-format-14 "${options[@]}"
