#include "kvcache/hash_bench_kernels.hpp"
#include "kvcache/pattern.hpp"
#include "kvcache/warp.cuh"

namespace graphsan::kvcache {
namespace {

/// Each warp reads kLoads × 512 consecutive bytes a turn. Fewer blocks a multiprocessor where each
/// reads more: told so, the compiler leaves registers for all of a turn's loads at once.
template <int kLoads>
__global__ void __launch_bounds__(kBenchThreads, 32 / kLoads)
    graphsan_plain_read(PlainReadArgs args) {
  constexpr std::int64_t kTile = std::int64_t{kLoads} * xxh3::kWarpLanes;
  const std::int64_t turn = std::int64_t{gridDim.x} * (kBenchThreads / xxh3::kWarpLanes) * kTile;
  std::uint64_t sum = 0;
  for (std::int64_t first = warp_of_grid() * kTile; first < args.chunks; first += turn) {
    const std::byte* const data = args.data + (first + WarpLane{}.index()) * xxh3::kChunkBytes;
    xxh3::Chunk chunks[kLoads];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      chunks[j] = load_streaming(data + j * xxh3::kWarpLanes * xxh3::kChunkBytes);
    }
#pragma unroll
    for (int j = 0; j < kLoads; ++j) sum += chunks[j].low + chunks[j].high;
  }
  if (sum == args.unlikely) *args.sink = sum;
}

__global__ void __launch_bounds__(kBenchThreads) graphsan_draw_words(DrawWordsArgs args) {
  const std::int64_t step = std::int64_t{gridDim.x} * kBenchThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kBenchThreads + threadIdx.x; i < args.count;
       i += step) {
    args.words[i] = mix64(static_cast<std::uint64_t>(i));
  }
}

__global__ void graphsan_empty(EmptyArgs) {}

}  // namespace

const void* plain_read_4_symbol() { return reinterpret_cast<const void*>(&graphsan_plain_read<4>); }

const void* plain_read_8_symbol() { return reinterpret_cast<const void*>(&graphsan_plain_read<8>); }

const void* plain_read_16_symbol() {
  return reinterpret_cast<const void*>(&graphsan_plain_read<16>);
}

const void* draw_words_symbol() { return reinterpret_cast<const void*>(&graphsan_draw_words); }

const void* empty_symbol() { return reinterpret_cast<const void*>(&graphsan_empty); }

}  // namespace graphsan::kvcache
