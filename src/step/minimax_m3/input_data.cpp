#include "step/minimax_m3/input_data.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/draw.hpp"

namespace graphsan::step::minimax_m3 {

namespace {

enum class Stream : std::uint64_t { kRows = 1, kEarlier = 2, kHistory = 3, kWeights = 4 };

std::uint64_t mix(std::uint64_t x) {
  // SplitMix64's finaliser (Steele, Lea, Flood 2014).
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

std::uint64_t stream_seed(std::uint64_t seed, Stream stream, std::uint64_t a, std::uint64_t b) {
  return mix(mix(mix(seed * 4 + static_cast<std::uint64_t>(stream)) + a) + b);
}

void draw(std::span<std::uint16_t> out, std::uint64_t seed, float scale) {
  const DrawKeys keys = draw_keys(seed, 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = draw_element(keys, static_cast<std::uint32_t>(i), scale);
  }
}

/// Component d (0..63) of direction 0 or 1: two orthogonal sign patterns.
float direction(int which, int d) {
  return which == 0 ? (d % 2 == 0 ? 1.0F : -1.0F) : (d % 4 < 2 ? 1.0F : -1.0F);
}

constexpr int kFirstDirectionDim = 64;

/// An index key along one direction, scaled to the length of a normal key.
void write_needle(std::uint16_t* index_k, int which) {
  std::fill_n(index_k, kFirstDirectionDim, std::uint16_t{0});
  for (int d = kFirstDirectionDim; d < kHeadDim; ++d) {
    index_k[d] = float_to_bf16(std::sqrt(2.0F) * direction(which, d - kFirstDirectionDim));
  }
}

}  // namespace

void InputData::add_directions(std::uint16_t* index_q, int heads) const {
  for (int head = 0; head < heads; ++head) {
    std::uint16_t* query = index_q + static_cast<std::ptrdiff_t>(head) * kHeadDim;
    for (int d = kFirstDirectionDim; d < kHeadDim; ++d) {
      const int i = d - kFirstDirectionDim;
      query[d] = float_to_bf16(bf16_to_float(query[d]) + direction(0, i) + direction(1, i));
    }
  }
}

std::vector<std::uint16_t> InputData::rows(int layer, int step) const {
  const model::StepFacts& batch = plan_->step(step);
  const HeadsArg heads = heads_for(config_.tp, is_sparse_layer(layer, config_.layers));
  const std::int64_t width = row_width(heads);
  std::vector<std::uint16_t> out(static_cast<std::size_t>(batch.tokens * width));
  for (int lane = 0; lane < batch.tokens; ++lane) {
    const model::Lane& token = batch.lanes[static_cast<std::size_t>(lane)];
    std::uint16_t* row = out.data() + lane * width;
    // Drawn by token, so that a token's values do not depend on the batch it came in.
    draw({row, static_cast<std::size_t>(width)},
         stream_seed(config_.seed, Stream::kRows, static_cast<std::uint64_t>(layer),
                     static_cast<std::uint64_t>(token.sequence) << 32 |
                         static_cast<std::uint64_t>(token.position)),
         1.0F);
    if (heads.index_k == 0) continue;
    std::uint16_t* index_k = row + width - kHeadDim;
    add_directions(index_k - static_cast<std::ptrdiff_t>(heads.index_q) * kHeadDim, heads.index_q);
    for (const Needle& needle : plan_->needles()) {
      if (needle.sequence == token.sequence && needle.position == token.position) {
        write_needle(index_k, needle.direction);
      }
    }
  }
  return out;
}

std::vector<std::uint16_t> InputData::earlier_batch(int layer, int lanes) const {
  const HeadsArg heads = heads_for(config_.tp, is_sparse_layer(layer, config_.layers));
  std::vector<std::uint16_t> out(static_cast<std::size_t>(lanes * row_width(heads)));
  draw(out, stream_seed(config_.seed, Stream::kEarlier, static_cast<std::uint64_t>(layer), 0),
       1.0F);
  return out;
}

std::vector<std::uint16_t> InputData::history(int layer, int sequence, std::int64_t first,
                                              std::int64_t count) const {
  const HeadsArg heads = heads_for(config_.tp, is_sparse_layer(layer, config_.layers));
  const std::int64_t width = (2 * heads.kv + heads.index_k) * kHeadDim;
  std::vector<std::uint16_t> out(static_cast<std::size_t>(count * width));
  draw(out,
       stream_seed(config_.seed, Stream::kHistory,
                   static_cast<std::uint64_t>(layer) << 32 | static_cast<std::uint64_t>(sequence),
                   static_cast<std::uint64_t>(first)),
       1.0F);
  if (heads.index_k == 0) return out;
  for (const Needle& needle : plan_->needles()) {
    const std::int64_t token = needle.position - first;
    if (needle.sequence != sequence || token < 0 || token >= count) continue;
    write_needle(out.data() + (token + 1) * width - kHeadDim, needle.direction);
  }
  return out;
}

std::vector<std::uint16_t> InputData::norm_weights(int layer) const {
  std::vector<std::uint16_t> out(4 * kHeadDim);
  draw(out, stream_seed(config_.seed, Stream::kWeights, static_cast<std::uint64_t>(layer), 0),
       0.1F);
  return out;
}

std::vector<std::uint16_t> cos_sin_table(std::int64_t positions) {
  constexpr double kTheta = 5'000'000.0;
  std::vector<std::uint16_t> table(static_cast<std::size_t>(positions) * 2 * kRotaryPairs);
  for (int i = 0; i < kRotaryPairs; ++i) {
    const double frequency = std::pow(kTheta, -static_cast<double>(i) / kRotaryPairs);
    for (std::int64_t p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(p) * frequency;
      std::uint16_t* row = table.data() + p * 2 * kRotaryPairs;
      row[i] = float_to_bf16(static_cast<float>(std::cos(angle)));
      row[kRotaryPairs + i] = float_to_bf16(static_cast<float>(std::sin(angle)));
    }
  }
  return table;
}

}  // namespace graphsan::step::minimax_m3
