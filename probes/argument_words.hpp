#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/graph.hpp"

namespace graphsan::probes {

/// A scalar that a kernel was passed.
struct Word {
  std::uint64_t bits = 0;  ///< little-endian, zero above `size`
  std::uint32_t size = 0;  ///< bytes, 1 to 8
  friend bool operator==(const Word&, const Word&) = default;
};

/// What a declared field that is no pointer holds; empty where there is no such field, or where it
/// is wider than a word.
[[nodiscard]] std::optional<Word> word_of(const model::Work& work, std::string_view field);

/// `4096`; where that is no ordinary integer, the float or double that it is (`0.125`), or else the
/// bits (`0x9e3779b97f4a7c15`). Types are not recorded, so this is the likeliest reading.
[[nodiscard]] std::string word_text(const Word& word);

/// Bits spread over 64 as a mixed seed's are: no length, no address, no double of ordinary size, no
/// mask, no two numbers side by side. A guess: what else fits is called a seed too.
[[nodiscard]] bool looks_like_seed(const Word& word);

}  // namespace graphsan::probes
