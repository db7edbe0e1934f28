#include "step/minimax_m3/indexer_score.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include "step/minimax_m3/argument_fields.hpp"
#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/host_context.hpp"
#include "step/minimax_m3/host_tile.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(IndexerScoreArgs, index_q),
    GRAPHSAN_ARGUMENT_FIELD(IndexerScoreArgs, index_cache),
    GRAPHSAN_ARGUMENT_FIELD(IndexerScoreArgs, scores),
    GRAPHSAN_CONTEXT_FIELDS(IndexerScoreArgs, context),
    GRAPHSAN_ARGUMENT_FIELD(IndexerScoreArgs, tokens),
    GRAPHSAN_ARGUMENT_FIELD(IndexerScoreArgs, heads),
    GRAPHSAN_ARGUMENT_FIELD(IndexerScoreArgs, blocks),
};

constexpr int kGroupRows = 64;

static_assert(kBlockSize % 4 == 0 && kGroupRows % 2 == 0);

/// Rows (lane by lane, head by head) of one lane group and one block of keys.
struct Workspace {
  alignas(64) float keys[kBlockSize * kHeadDim];
  alignas(64) float rows[kGroupRows][kHeadDim];
  alignas(64) float scores[2][kBlockSize];
};

GRAPHSAN_INLINE_BODY float largest_score(const float* scores, std::int64_t count) {
  float largest = std::numeric_limits<float>::quiet_NaN();
  for (std::int64_t i = 0; i < count; ++i) {
    const bool better = (scores[i] > largest) | (largest != largest);
    largest = better ? scores[i] : largest;
  }
  return largest;
}

GRAPHSAN_INLINE_BODY void load_rows(const IndexerScoreArgs& args, const LaneGroup& group,
                                    Workspace& work) {
  const std::int64_t rows = group.count * args.heads;
  const std::uint16_t* source = args.index_q + group.first * args.heads * kHeadDim;
  for (std::int64_t row = 0; row < rows; ++row) {
    widen_bf16_row(source + row * kHeadDim, work.rows[row]);
  }
  if (rows % 2 != 0) std::fill_n(work.rows[rows], kHeadDim, 0.0F);
}

/// Scores of one block for the rows of a group.
GRAPHSAN_INLINE_BODY void score_block(const IndexerScoreArgs& args, const LaneGroup& group,
                                      std::int64_t block, int keys, Workspace& work) {
  const std::int64_t rows = group.count * args.heads;
  for (std::int64_t row = 0; row < rows; row += 2) {
    score_two_rows(work.rows[row], work.rows[row + 1], work.keys, keys, work.scores[0],
                   work.scores[1]);
    for (std::int64_t r = row; r < std::min(row + 2, rows); ++r) {
      const std::int64_t lane = group.first + r / args.heads;
      const std::int64_t visible =
          std::min<std::int64_t>(keys, context_length(args.context, lane) - block * kBlockSize);
      if (visible <= 0) continue;
      args.scores[((r % args.heads) * args.tokens + lane) * args.blocks + block] =
          largest_score(work.scores[r - row], visible);
    }
  }
}

GRAPHSAN_INLINE_BODY void score_group(const IndexerScoreArgs& args, const LaneGroup& group,
                                      Workspace& work) {
  const KvCacheArg cache{.key = nullptr,
                         .value = nullptr,
                         .page_stride = args.context.page_size * kHeadDim * 2,
                         .slot_stride = kHeadDim * 2,
                         .head_stride = 0,
                         .slots = 0,
                         .page_size = args.context.page_size,
                         .heads = 1,
                         .dtype = model::DType::kBf16,
                         .conversion = Conversion::kSoftware};
  const std::int32_t* table = lane_table(args.context, group.first);
  load_rows(args, group, work);
  for (std::int64_t block = 0; block < args.blocks; ++block) {
    const std::int64_t begin = block * kBlockSize;
    if (begin >= group.longest) break;
    const auto keys = static_cast<int>(std::min<std::int64_t>(kBlockSize, group.longest - begin));
    load_tile(cache, reinterpret_cast<const std::byte*>(args.index_cache), 0, table, begin, keys,
              work.keys);
    score_block(args, group, block, keys, work);
  }
}

GRAPHSAN_INLINE_BODY void score_lanes(const IndexerScoreArgs& args, std::int64_t tokens,
                                      Workspace& work) {
  const std::int64_t limit = std::max(1, kGroupRows / args.heads);
  for (std::int64_t first = 0; first < tokens;) {
    const LaneGroup group = lane_group(args.context, first, tokens, limit);
    score_group(args, group, work);
    first += group.count;
  }
}

GRAPHSAN_TARGET_AVX2 void score_avx2(const IndexerScoreArgs& args, std::int64_t tokens,
                                     Workspace& work) {
  score_lanes(args, tokens, work);
}

void score_baseline(const IndexerScoreArgs& args, std::int64_t tokens, Workspace& work) {
  score_lanes(args, tokens, work);
}

void indexer_score_host(const device::LaunchDims& dims, const void* arguments) {
  const auto& args = *static_cast<const IndexerScoreArgs*>(arguments);
  if (args.index_cache == nullptr) return;
  const auto work = std::make_unique<Workspace>();
  const auto score = has_avx2() ? &score_avx2 : &score_baseline;
  score(args, covered_lanes(dims, args.tokens), *work);
}

}  // namespace

const device::Kernel& indexer_score_kernel() {
  static const device::Kernel kernel{"indexer_score", cuda_symbols::indexer_score(),
                                     &indexer_score_host, sizeof(IndexerScoreArgs), kFields};
  return kernel;
}

void launch_indexer_score(device::Device& device, device::StreamRef stream,
                          const IndexerScoreArgs& args) {
  if (args.tokens <= 0 || args.blocks <= 0 || args.heads <= 0) return;
  if (args.heads > kGroupRows) throw std::invalid_argument{"indexer_score: more than 64 heads"};
  const auto dims = lane_dims(args.tokens, static_cast<std::uint32_t>(args.blocks),
                              static_cast<std::uint32_t>(args.heads));
  device.launch(stream, indexer_score_kernel(), dims, &args);
}

}  // namespace graphsan::step::minimax_m3
