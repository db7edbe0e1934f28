#include "tests/gpu/fp8_sweep.hpp"

#include "device/cuda/check.hpp"
#include "step/minimax_m3/fp8_native.cuh"

namespace graphsan::test {
namespace {

using step::minimax_m3::E4M3;
using step::minimax_m3::E5M2;
using step::minimax_m3::encode_fp8;
using step::minimax_m3::encode_fp8_native;

constexpr unsigned int kBlocks = 4096;
constexpr unsigned int kThreads = 256;

template <typename Format>
__global__ void count_mismatches(unsigned long long* compared, unsigned long long* mismatches,
                                 unsigned int* first) {
  unsigned long long seen = 0;
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t bits = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       bits < (std::uint64_t{1} << 32); bits += stride, ++seen) {
    const float value = __uint_as_float(static_cast<unsigned int>(bits));
    if (encode_fp8_native<Format>(value) != encode_fp8<Format>(value)) {
      atomicAdd(mismatches, 1ULL);
      atomicMin(first, static_cast<unsigned int>(bits));
    }
  }
  atomicAdd(compared, seen);
}

template <typename Format>
__global__ void encode_all(const std::uint32_t* bits, std::uint8_t* codes, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) codes[i] = encode_fp8_native<Format>(__uint_as_float(bits[i]));
}

}  // namespace

Fp8Sweep sweep_all_floats(bool e5m2) {
  Fp8Sweep* found = nullptr;
  GRAPHSAN_CUDA_CHECK(cudaMallocManaged(&found, sizeof(Fp8Sweep)));
  *found = Fp8Sweep{};
  auto* compared = reinterpret_cast<unsigned long long*>(&found->compared);
  auto* mismatches = reinterpret_cast<unsigned long long*>(&found->mismatches);
  if (e5m2) {
    count_mismatches<E5M2><<<kBlocks, kThreads>>>(compared, mismatches, &found->first_mismatch);
  } else {
    count_mismatches<E4M3><<<kBlocks, kThreads>>>(compared, mismatches, &found->first_mismatch);
  }
  GRAPHSAN_CUDA_CHECK(cudaGetLastError());
  GRAPHSAN_CUDA_CHECK(cudaDeviceSynchronize());
  const Fp8Sweep result = *found;
  GRAPHSAN_CUDA_CHECK(cudaFree(found));
  return result;
}

std::vector<std::uint8_t> encode_on_device(const std::vector<std::uint32_t>& bits, bool e5m2) {
  std::uint32_t* input = nullptr;
  std::uint8_t* codes = nullptr;
  GRAPHSAN_CUDA_CHECK(cudaMalloc(&input, bits.size() * sizeof(std::uint32_t)));
  GRAPHSAN_CUDA_CHECK(cudaMalloc(&codes, bits.size()));
  GRAPHSAN_CUDA_CHECK(
      cudaMemcpy(input, bits.data(), bits.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice));
  const auto blocks = static_cast<unsigned int>((bits.size() + kThreads - 1) / kThreads);
  if (e5m2) {
    encode_all<E5M2><<<blocks, kThreads>>>(input, codes, bits.size());
  } else {
    encode_all<E4M3><<<blocks, kThreads>>>(input, codes, bits.size());
  }
  GRAPHSAN_CUDA_CHECK(cudaGetLastError());
  std::vector<std::uint8_t> result(bits.size());
  GRAPHSAN_CUDA_CHECK(cudaMemcpy(result.data(), codes, bits.size(), cudaMemcpyDeviceToHost));
  GRAPHSAN_CUDA_CHECK(cudaFree(input));
  GRAPHSAN_CUDA_CHECK(cudaFree(codes));
  return result;
}

}  // namespace graphsan::test
