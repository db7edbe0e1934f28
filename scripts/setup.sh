#!/usr/bin/env bash
# Installs what is missing to build GraphSan and to run its tests: Debian packages, and a Python
# environment in .venv. Safe to run again; quick when nothing is missing.
#
# usage: scripts/setup.sh [--build-only]     --build-only leaves out what only the tests need
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build_packages=(cmake ninja-build g++ ccache python3 libcli11-dev libfmt-dev nlohmann-json3-dev
                libsqlite3-dev libxxhash-dev libgtest-dev libgmock-dev libtomlplusplus-dev)
test_packages=(sqlite3 xxhash libpugixml-dev libbenchmark-dev chromium clang-format-14
               clang-tidy-14 python3-venv)

wanted=("${build_packages[@]}")
case "${1:-}" in
  "") wanted+=("${test_packages[@]}") ;;
  --build-only) ;;
  *) echo "usage: scripts/setup.sh [--build-only]" >&2; exit 2 ;;
esac

missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${wanted[@]}" 2>/dev/null |
              sed -n 's/^ii *//p') || true
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) <(sort -u <<<"$installed")
}

# Without dpkg there is no telling which libraries are there; programs can be looked for.
explain_by_hand() {
  local program absent=()
  for program in cmake ninja g++ python3; do
    command -v "$program" >/dev/null || absent+=("$program")
  done
  {
    echo "scripts/setup.sh installs packages on Debian and Ubuntu only; nothing was installed."
    echo "Programs missing here: ${absent[*]:-none}"
    echo "Needed, by their Debian names: ${wanted[*]}"
  } >&2
  [ "${#absent[@]}" -eq 0 ]
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  [ "${#missing[@]}" -gt 0 ] || return 0
  echo "Installing: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    echo "Neither root nor sudo. As root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# .venv/requirements.txt is the copy of what was installed last; written when all went well.
install_python_environment() {
  cmp -s tests/requirements.txt .venv/requirements.txt && return 0
  echo "Preparing the Python environment for tests in .venv"
  python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
  cp tests/requirements.txt .venv/requirements.txt
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  install_packages
else
  explain_by_hand
fi
[ "${1:-}" = "--build-only" ] || install_python_environment
