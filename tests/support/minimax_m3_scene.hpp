#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/fp8_convert.hpp"
#include "step/minimax_m3/ops.hpp"
#include "tests/support/kv_pool.hpp"

namespace graphsan::test {

/// A lane of a scene: the first `length` tokens of a sequence, the last one its own; 0: a pad lane.
struct SceneLane {
  std::int32_t sequence = 0;
  std::int32_t length = 0;
  std::int32_t query = 0;  ///< which of the scene's queries it asks
};

struct SceneShape {
  std::int32_t q_heads = 8;
  std::int32_t kv_heads = 1;
  std::int32_t page_size = 128;
  KvArrangement arrangement = KvArrangement::kNhd;
  model::DType dtype = model::DType::kBf16;
  std::int32_t context = 1024;  ///< tokens of each sequence, a multiple of 128
  std::int32_t k = 4;
  float k_scale = 1.0F;
  float v_scale = 1.0F;
  std::uint64_t page_order = 1;  ///< seed of the order of pages
};

/// Caches that hold two sequences, and queries. What a token holds depends on its sequence and
/// position only; memory that belongs to no token is NaN, so that an op that reads it shows.
class Scene {
 public:
  static constexpr std::int32_t kSequences = 2;

  Scene(DeviceArena& arena, const SceneShape& shape, const std::vector<SceneLane>& lanes)
      : shape_{shape}, arena_{&arena}, lanes_{lanes}, pool_{arena,
                                                            shape.dtype,
                                                            kSequences * pages_of_sequence() + 1,
                                                            shape.page_size,
                                                            shape.kv_heads,
                                                            shape.arrangement} {
    make_table();
    fill_caches();
    make_lanes();
  }

  /// Element d of a token of K (0), V (1) or index-K (2) as the cache's dtype holds it, unscaled.
  [[nodiscard]] float element(int kind, std::int32_t sequence, std::int32_t position,
                              std::int32_t head, int d) const {
    return stored_value(kind == 2 ? model::DType::kBf16 : shape_.dtype,
                        drawn(kind, sequence, position, head, d));
  }

  /// Element d of an attention query (3) or an index query (4).
  [[nodiscard]] static float query(int kind, const SceneLane& lane, std::int32_t head, int d) {
    return step::minimax_m3::bf16_to_float(drawn(kind, 0, lane.query, head, d));
  }

  [[nodiscard]] std::vector<float> scores() {
    const std::size_t count = lanes_.size() * shape_.kv_heads * blocks();
    auto* out = arena_->make<float>(count);
    step::minimax_m3::launch_indexer_score(
        arena_->device(), arena_->stream(),
        {index_q_, index_, out, context_, tokens(), shape_.kv_heads, blocks()});
    scores_ = out;
    return arena_->download(out, count);
  }

  /// Selection from the scores of the last scores().
  [[nodiscard]] std::vector<std::int32_t> select() {
    const std::size_t count = lanes_.size() * shape_.kv_heads * shape_.k;
    top_k_ = arena_->make<std::int32_t>(count);
    step::minimax_m3::launch_indexer_top_k(arena_->device(), arena_->stream(),
                                           {scores_, top_k_, context_.seq_lens, tokens(), tokens(),
                                            shape_.kv_heads, blocks(), shape_.k, 0, 1});
    return arena_->download(top_k_, count);
  }

  /// Sets the selection, [kv_heads, lanes, k].
  void set_selection(const std::vector<std::int32_t>& ids) { top_k_ = arena_->upload(ids); }

  /// Output of sparse attention over the selection, or of dense attention; `scratch` may be null.
  [[nodiscard]] std::vector<std::uint16_t> attend(bool sparse, float* scratch = nullptr) {
    const std::size_t count = lanes_.size() * shape_.q_heads * step::minimax_m3::kHeadDim;
    step::minimax_m3::AttentionArgs args{};
    args.q = q_;
    args.out = arena_->make<std::uint16_t>(count);
    args.top_k = sparse ? top_k_ : nullptr;
    args.cache = pool_.arg;
    args.k_scale = arena_->upload(std::vector<float>{shape_.k_scale});
    args.v_scale = arena_->upload(std::vector<float>{shape_.v_scale});
    args.context = context_;
    args.tokens = tokens();
    args.tokens_stride = tokens();
    args.q_heads = shape_.q_heads;
    args.k = shape_.k;
    args.scratch = scratch;
    step::minimax_m3::launch_attention(arena_->device(), arena_->stream(), args);
    return arena_->download(args.out, count);
  }

  /// Attention of one lane and head in double, over the positions given.
  [[nodiscard]] std::vector<double> exact(const SceneLane& lane, std::int32_t head,
                                          const std::vector<std::int32_t>& positions) const {
    using step::minimax_m3::kHeadDim;
    const std::int32_t kv = head / (shape_.q_heads / shape_.kv_heads);
    std::vector<double> weights;
    for (const std::int32_t p : positions) {
      double dot = 0;
      for (int d = 0; d < kHeadDim; ++d) {
        dot += static_cast<double>(query(3, lane, head, d)) * element(0, lane.sequence, p, kv, d);
      }
      weights.push_back(dot * shape_.k_scale / std::sqrt(double{kHeadDim}));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    std::vector<double> out(kHeadDim);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      for (int d = 0; d < kHeadDim; ++d) {
        out[d] +=
            weights[i] / sum * shape_.v_scale * element(1, lane.sequence, positions[i], kv, d);
      }
    }
    return out;
  }

  [[nodiscard]] std::int32_t tokens() const { return static_cast<std::int32_t>(lanes_.size()); }
  [[nodiscard]] std::int32_t blocks() const {
    return shape_.context / step::minimax_m3::kBlockSize;
  }
  [[nodiscard]] const SceneShape& shape() const { return shape_; }
  [[nodiscard]] std::int32_t table_stride() const { return pages_of_sequence(); }

 private:
  [[nodiscard]] std::int32_t pages_of_sequence() const { return shape_.context / shape_.page_size; }

  static std::uint16_t drawn(int kind, std::int32_t sequence, std::int32_t position,
                             std::int32_t head, int d) {
    const std::uint64_t index =
        (static_cast<std::uint64_t>(position) * 64 + static_cast<std::uint64_t>(head)) * 128 +
        static_cast<std::uint64_t>(d);
    const auto keys =
        step::minimax_m3::draw_keys(static_cast<std::uint64_t>(kind * kSequences + sequence), 0);
    return step::minimax_m3::draw_element(keys, static_cast<std::uint32_t>(index), 1.0F);
  }

  static float stored_value(model::DType dtype, std::uint16_t bits) {
    using namespace step::minimax_m3;
    const float value = bf16_to_float(bits);
    if (dtype == model::DType::kFp8E4M3) return decode_fp8<E4M3>(encode_fp8<E4M3>(value));
    if (dtype == model::DType::kFp8E5M2) return decode_fp8<E5M2>(encode_fp8<E5M2>(value));
    return value;
  }

  void make_table() {
    table_.resize(static_cast<std::size_t>(kSequences * pages_of_sequence()));
    for (std::size_t i = 0; i < table_.size(); ++i) table_[i] = static_cast<std::int32_t>(i) + 1;
    std::mt19937_64 random{shape_.page_order};
    std::shuffle(table_.begin(), table_.end(), random);
  }

  [[nodiscard]] std::int64_t slot_of(std::int32_t sequence, std::int32_t position) const {
    const auto page =
        static_cast<std::size_t>(sequence * pages_of_sequence() + position / shape_.page_size);
    return static_cast<std::int64_t>(table_[page]) * shape_.page_size + position % shape_.page_size;
  }

  void fill_run(bool value, std::int32_t sequence, std::int32_t position, std::int32_t head) {
    using namespace step::minimax_m3;
    std::byte* run = pool_.run(value, slot_of(sequence, position), head);
    for (int d = 0; d < kHeadDim; ++d) {
      const std::uint16_t bits = drawn(value ? 1 : 0, sequence, position, head, d);
      if (shape_.dtype == model::DType::kBf16) {
        std::memcpy(run + 2 * d, &bits, 2);
      } else {
        const float x = bf16_to_float(bits);
        run[d] = static_cast<std::byte>(
            shape_.dtype == model::DType::kFp8E4M3 ? encode_fp8<E4M3>(x) : encode_fp8<E5M2>(x));
      }
    }
  }

  /// Tokens beyond the longest lane of a sequence stay NaN.
  void fill_caches() {
    using step::minimax_m3::kHeadDim;
    std::vector<std::uint16_t> index(static_cast<std::size_t>(pool_.arg.slots * kHeadDim), 0xFFFF);
    for (std::int32_t s = 0; s < kSequences; ++s) {
      for (std::int32_t p = 0; p < longest(s); ++p) {
        for (std::int32_t h = 0; h < shape_.kv_heads; ++h) {
          fill_run(false, s, p, h);
          fill_run(true, s, p, h);
        }
        for (int d = 0; d < kHeadDim; ++d) {
          index[static_cast<std::size_t>(slot_of(s, p) * kHeadDim + d)] = drawn(2, s, p, 0, d);
        }
      }
    }
    pool_.upload();
    index_ = arena_->upload(index);
  }

  [[nodiscard]] std::int32_t longest(std::int32_t sequence) const {
    std::int32_t result = 0;
    for (const SceneLane& lane : lanes_) {
      if (lane.sequence == sequence) result = std::max(result, lane.length);
    }
    return result;
  }

  void make_lanes() {
    using step::minimax_m3::kHeadDim;
    std::vector<std::int32_t> sequences;
    std::vector<std::int32_t> lengths;
    std::vector<std::int64_t> positions;
    std::vector<std::uint16_t> q;
    std::vector<std::uint16_t> index_q;
    for (const SceneLane& lane : lanes_) {
      sequences.push_back(lane.sequence);
      lengths.push_back(lane.length);
      positions.push_back(lane.length - 1);
      for (std::int32_t h = 0; h < shape_.q_heads; ++h) {
        for (int d = 0; d < kHeadDim; ++d) q.push_back(drawn(3, 0, lane.query, h, d));
      }
      for (std::int32_t h = 0; h < shape_.kv_heads; ++h) {
        for (int d = 0; d < kHeadDim; ++d) index_q.push_back(drawn(4, 0, lane.query, h, d));
      }
    }
    q_ = arena_->upload(q);
    index_q_ = arena_->upload(index_q);
    context_ = {arena_->upload(table_),  arena_->upload(sequences), arena_->upload(positions),
                arena_->upload(lengths), pages_of_sequence(),       shape_.page_size};
  }

  SceneShape shape_;
  DeviceArena* arena_;
  std::vector<SceneLane> lanes_;
  KvPool pool_;
  std::vector<std::int32_t> table_;
  std::uint16_t* index_ = nullptr;
  std::uint16_t* q_ = nullptr;
  std::uint16_t* index_q_ = nullptr;
  float* scores_ = nullptr;
  std::int32_t* top_k_ = nullptr;
  step::minimax_m3::ContextArg context_{};
};

}  // namespace graphsan::test
