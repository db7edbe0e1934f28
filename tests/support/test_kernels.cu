#include "tests/support/test_kernels.hpp"

namespace graphsan::test {
namespace {

__device__ std::uint64_t first_index() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__device__ std::uint64_t index_step() { return std::uint64_t{gridDim.x} * blockDim.x; }

/// Only the threads of the first plane of the grid and of each block have work.
__device__ bool in_first_plane() {
  return blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.y == 0 && threadIdx.z == 0;
}

__global__ void store_word(StoreWordArgs args) {
  if (in_first_plane() && first_index() == 0) *args.destination = args.value;
}

__global__ void add_words(AddWordsArgs args) {
  if (!in_first_plane()) return;
  for (std::uint64_t i = first_index(); i < args.count; i += index_step()) {
    args.destination[i] += args.value;
  }
}

__global__ void copy_words(CopyWordsArgs args) {
  if (!in_first_plane()) return;
  for (std::uint64_t i = first_index(); i < args.count; i += index_step()) {
    args.destination[i] = args.source[i];
  }
}

}  // namespace

const void* store_word_symbol() { return reinterpret_cast<const void*>(&store_word); }
const void* add_words_symbol() { return reinterpret_cast<const void*>(&add_words); }
const void* copy_words_symbol() { return reinterpret_cast<const void*>(&copy_words); }

}  // namespace graphsan::test
