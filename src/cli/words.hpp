#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "check/device_choice.hpp"
#include "cli/command.hpp"
#include "model/dtype.hpp"
#include "step/minimax_m3/config.hpp"

namespace graphsan::cli {

/// The value of an enum that the command line spells `word`. Throws BadUsage naming the option and
/// the words that there are.
template <typename Enum, std::size_t N>
[[nodiscard]] Enum parse_word(const std::string& option, const std::string& word,
                              const std::array<Enum, N>& values) {
  using step::minimax_m3::to_string;
  std::string known;
  for (const Enum value : values) {
    if (to_string(value) == word) return value;
    known += (known.empty() ? "" : ", ") + std::string{to_string(value)};
  }
  throw BadUsage{fmt::format("{}: unknown value '{}'; use one of: {}", option, word, known)};
}

/// `auto`, `cuda` or `host`.
[[nodiscard]] check::DeviceChoice parse_device(const std::string& word);
/// `bf16`, `fp8_e4m3` or `fp8_e5m2`.
[[nodiscard]] model::DType parse_kv_dtype(const std::string& word);
/// Ops separated by commas, or `none`.
[[nodiscard]] step::minimax_m3::BreakSet parse_breaks(const std::vector<std::string>& words);

}  // namespace graphsan::cli
