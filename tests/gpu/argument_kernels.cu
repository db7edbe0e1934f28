#include "tests/gpu/argument_kernels.hpp"

namespace graphsan::test {
namespace {

__global__ void many_words(ManyWordsArgs args) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (std::uint32_t i = 0; i < args.count; ++i) *args.destinations[i] = args.values[i] + args.lead;
}

__global__ void mixed_arguments(std::uint64_t* destination, std::uint32_t low, std::uint8_t shift,
                                std::uint64_t offset) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *destination = (std::uint64_t{low} << shift) + offset;
  }
}

__global__ void no_arguments() {}

}  // namespace

const void* many_words_symbol() { return reinterpret_cast<const void*>(&many_words); }
const void* mixed_arguments_symbol() { return reinterpret_cast<const void*>(&mixed_arguments); }
const void* no_arguments_symbol() { return reinterpret_cast<const void*>(&no_arguments); }

}  // namespace graphsan::test
