#!/usr/bin/env bash
# Packs the program, the GPU tests and what they need into dist/graphsan-gpu and an archive of it,
# for a machine with a GPU and without compilers. Needs nvcc here, and no GPU.
# usage: scripts/make_gpu_bundle.sh CUDA_ARCHITECTURES JOBS
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
architectures=$1 jobs=$2
build=build-bundle
bundle=dist/graphsan-gpu

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGRAPHSAN_CUDA=ON \
  -DGRAPHSAN_STATIC_DEPENDENCIES=ON "-DCMAKE_CUDA_ARCHITECTURES=$architectures" >"$build.log" ||
  { cat "$build.log"; exit 1; }
rm -f "$build.log"
cmake --build "$build" --target graphsan graphsan_gpu_tests example_paged_write_cuda \
  graphsan_shared own_capture_plugin -j "$jobs"

rm -rf "$bundle" "$bundle.tar.gz"
mkdir -p "$bundle/tests"
cp "$build/graphsan" "$bundle/"
while read -r test; do
  [ -z "$test" ] || cp "$build/tests/$test" "$bundle/tests/"
done <"$build/gpu-tests.txt"
cp -r tests/data "$bundle/data"
cp "$build/examples/plugin/libpaged_write_cuda.so" tests/gpu/plugin_gpu_test.py "$bundle/"
cp "$build/tests/libown_capture_plugin.so" "$build/libgraphsan.so" \
  tests/gpu/own_capture_gpu_test.py "$bundle/"
mkdir -p "$bundle/python"
cp -r python/graphsan examples/python "$bundle/python/"
mv "$bundle/python/python" "$bundle/python/examples"
cp tests/python/gpu_cases.py tests/python/run_on_gpu.sh "$bundle/python/"
find "$bundle/python" -name __pycache__ -prune -exec rm -r {} +
cp tests/cli/contract_test.py scripts/check_seed.py scripts/run_gpu_tests.sh "$bundle/"
strip "$bundle/graphsan" "$bundle"/*.so "$bundle"/tests/*

# What the programs ask of the other machine: its C library, and nothing that Debian packages.
foreign=$(ldd "$bundle/graphsan" "$bundle"/*.so "$bundle"/tests/* |
          awk '/=>/ {print $1}' | sort -u | grep -vE '^lib(c|m|dl|rt|pthread|util)\.so' || true)
if [ -n "$foreign" ]; then
  echo "the bundle is not relocatable, it needs: $foreign" >&2
  exit 1
fi
size=$(du -sm "$bundle" | cut -f1)
if [ "$size" -gt 64 ]; then
  echo "the bundle takes $size MiB, more than 64: name fewer architectures" >&2
  exit 1
fi
tar -C dist -czf "$bundle.tar.gz" graphsan-gpu
echo "$bundle ($size MiB) and $bundle.tar.gz; there: ./run_gpu_tests.sh LOG_FOLDER"
