#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "model/facts.hpp"
#include "run/arm_log.hpp"

namespace graphsan::test {

/// The bytes of packed elements.
template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

/// bf16 bits of a number that bf16 holds exactly.
inline std::uint16_t bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<std::uint16_t>(bits >> 16);
}

inline std::vector<std::byte> bf16_row(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) bits.push_back(bf16(value));
  return bytes_of(bits);
}

/// `count` steps of two lanes, covered by a graph.
inline std::vector<model::StepFacts> covered_steps(int count) {
  std::vector<model::StepFacts> steps;
  for (int i = 0; i < count; ++i) {
    model::StepFacts step;
    step.step = i;
    step.batch = "decode";
    step.tokens = step.bucket = 2;
    step.covered = true;
    steps.push_back(std::move(step));
  }
  return steps;
}

/// Top-k rows of one layer: `ids` are [lane][head × k].
inline run::OutputRows selection_rows(int layer, std::int64_t heads,
                                      const std::vector<std::vector<std::int32_t>>& ids) {
  run::OutputRows rows;
  rows.layout.name = "layer " + std::to_string(layer) + " top-k";
  rows.layout.kind = model::CacheKind::kTopK;
  rows.layout.layer = layer;
  rows.layout.dtype = model::DType::kI32;
  rows.layout.heads = heads;
  rows.layout.dim = static_cast<std::int64_t>(ids.front().size()) / heads;
  for (const auto& lane : ids) rows.lanes.push_back(bytes_of(lane));
  return rows;
}

/// bf16 outputs of one layer, a row a lane.
inline run::OutputRows output_rows(int layer, const std::vector<std::vector<float>>& lanes) {
  run::OutputRows rows;
  rows.layout.name = "layer " + std::to_string(layer) + " output";
  rows.layout.kind = model::CacheKind::kOutput;
  rows.layout.layer = layer;
  rows.layout.dtype = model::DType::kBf16;
  rows.layout.heads = 1;
  rows.layout.dim = static_cast<std::int64_t>(lanes.front().size());
  for (const auto& lane : lanes) rows.lanes.push_back(bf16_row(lane));
  return rows;
}

/// One head's reference selection: `scores` are [lane][block].
inline step::ReferenceSelection reference(const std::vector<std::vector<std::int32_t>>& ids,
                                          const std::vector<std::vector<float>>& scores) {
  step::ReferenceSelection selection;
  selection.lanes = static_cast<std::int64_t>(scores.size());
  selection.heads = 1;
  selection.k = static_cast<int>(ids.front().size());
  selection.blocks = static_cast<std::int64_t>(scores.front().size());
  for (const auto& lane : ids) selection.ids.insert(selection.ids.end(), lane.begin(), lane.end());
  for (const auto& lane : scores) {
    selection.scores.insert(selection.scores.end(), lane.begin(), lane.end());
  }
  return selection;
}

}  // namespace graphsan::test
