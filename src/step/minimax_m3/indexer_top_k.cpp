#include "step/minimax_m3/indexer_top_k.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, scores),
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, top_k),
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, seq_lens),
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, tokens),
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, tokens_stride),
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, heads),
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, blocks),
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, k),
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, init_blocks),
    GRAPHSAN_ARGUMENT_FIELD(IndexerTopKArgs, local_blocks),
};

/// Selection of one (head, lane) row; `keys` is scratch.
void select_row(const IndexerTopKArgs& args, std::int64_t head, std::int64_t lane,
                std::vector<std::uint64_t>& keys) {
  std::int32_t* ids = args.top_k + (head * args.tokens_stride + lane) * args.k;
  const std::int32_t visible = visible_blocks(args, lane);
  const std::int32_t chosen = std::min(visible, args.k);
  std::fill(ids + chosen, ids + args.k, -1);
  if (visible <= args.k) {
    std::iota(ids, ids + chosen, 0);
    return;
  }
  const float* scores = args.scores + (head * args.tokens + lane) * args.blocks;
  keys.resize(static_cast<std::size_t>(visible));
  for (std::int32_t block = 0; block < visible; ++block) {
    keys[static_cast<std::size_t>(block)] =
        rank_key(effective_score(args, scores[block], block, visible), block);
  }
  std::nth_element(keys.begin(), keys.begin() + (chosen - 1), keys.end(), std::greater<>{});
  std::transform(keys.begin(), keys.begin() + chosen, ids, &block_of_key);
  std::sort(ids, ids + chosen);
}

void indexer_top_k_host(const device::LaunchDims& dims, const void* arguments) {
  const auto& args = *static_cast<const IndexerTopKArgs*>(arguments);
  std::vector<std::uint64_t> keys;
  for (std::int64_t head = 0; head < args.heads; ++head) {
    for (std::int64_t lane = 0; lane < covered_lanes(dims, args.tokens); ++lane) {
      select_row(args, head, lane, keys);
    }
  }
}

}  // namespace

const device::Kernel& indexer_top_k_kernel() {
  static const device::Kernel kernel{"indexer_top_k", cuda_symbols::indexer_top_k(),
                                     &indexer_top_k_host, sizeof(IndexerTopKArgs), kFields};
  return kernel;
}

void launch_indexer_top_k(device::Device& device, device::StreamRef stream,
                          const IndexerTopKArgs& args) {
  if (args.tokens <= 0 || args.heads <= 0 || args.k <= 0) return;
  auto dims = lane_dims(args.tokens, static_cast<std::uint32_t>(args.heads));
  dims.shared_bytes = static_cast<std::uint32_t>(args.k) * sizeof(std::int32_t);
  device.launch(stream, indexer_top_k_kernel(), dims, &args);
}

}  // namespace graphsan::step::minimax_m3
