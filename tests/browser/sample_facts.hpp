#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/facts.hpp"

namespace graphsan::test {

/// Numbers of the sample's pool: three sequences of 4,096 tokens and room to decode.
inline constexpr std::int64_t kPages = 100;
inline constexpr std::int64_t kPageSize = 128;
inline constexpr std::int64_t kLastRow = kPages * kPageSize - 1;
inline constexpr int kSteps = 4;
inline constexpr int kTokens = 3;
inline constexpr int kBucket = 4;

/// What the planted fault of a sample case does.
enum class Damage { kNone, kElided, kPadding };

/// Facts of a decode case of the built-in step with two layers: the caches in `kv_dtype`, the write
/// sets, the differing rows with bytes and digests, launches and nodes, and what follows from them.
[[nodiscard]] model::Facts sample_facts(model::DType kv_dtype, Damage damage, int bucket);

/// The row that holds `position` of `sequence`.
[[nodiscard]] std::int64_t sample_row(int sequence, std::int64_t position);

}  // namespace graphsan::test
