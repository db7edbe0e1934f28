#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace graphsan::model {

/// Called by each to_string() after its switch: the value is no enumerator, a broken invariant.
[[noreturn]] inline void throw_no_enumerator() {
  throw std::logic_error{"a value that is no enumerator has no word"};
}

/// The enumerator whose word is `word`, for an enum numbered from 0 to `last` without gaps and
/// with a to_string(); empty for an unknown word.
template <typename Enum>
[[nodiscard]] std::optional<Enum> parse_word(std::string_view word, Enum last) {
  for (int value = 0; value <= static_cast<int>(last); ++value) {
    const auto candidate = static_cast<Enum>(value);
    if (to_string(candidate) == word) return candidate;
  }
  return std::nullopt;
}

}  // namespace graphsan::model
