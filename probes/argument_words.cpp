#include "probes/argument_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace graphsan::probes {

namespace {

constexpr std::int64_t kOrdinaryInteger = std::int64_t{1} << 40;

std::int64_t as_integer(const Word& word) {
  const unsigned unused = 64 - 8 * word.size;
  return static_cast<std::int64_t>(word.bits << unused) >> unused;
}

bool is_ordinary(double value) {
  const double size = std::abs(value);
  return value == 0.0 || (size > 1e-9 && size < 1e12);
}

std::optional<double> as_ordinary_float(const Word& word) {
  double value = 0.0;
  if (word.size == 4) {
    value = std::bit_cast<float>(static_cast<std::uint32_t>(word.bits));
  } else if (word.size == 8) {
    value = std::bit_cast<double>(word.bits);
  }
  if (value == 0.0 || !is_ordinary(value)) return std::nullopt;
  return value;
}

bool is_ordinary_integer(const Word& word) {
  const std::int64_t limit = word.size == 4 ? std::int64_t{1} << 24 : kOrdinaryInteger;
  return as_integer(word) > -limit && as_integer(word) < limit;
}

/// Half of a word that could be a number of its own.
bool is_plain_half(const Word& half) {
  const double value = std::abs(std::bit_cast<float>(static_cast<std::uint32_t>(half.bits)));
  return is_ordinary_integer(half) || (value > 1e-4 && value < 1e6);
}

}  // namespace

std::optional<Word> word_of(const model::Work& work, std::string_view field) {
  const auto declared =
      std::find_if(work.fields.begin(), work.fields.end(),
                   [&](const model::ArgumentField& one) { return one.name == field; });
  if (declared == work.fields.end() || declared->is_pointer || declared->size == 0 ||
      declared->size > sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  for (const model::KernelArgument& argument : work.arguments) {
    const std::size_t end = argument.offset + argument.bytes.size();
    if (declared->offset < argument.offset || declared->offset + declared->size > end) continue;
    Word word{0, declared->size};
    std::memcpy(&word.bits, argument.bytes.data() + (declared->offset - argument.offset),
                declared->size);
    return word;
  }
  return std::nullopt;
}

std::string word_text(const Word& word) {
  if (is_ordinary_integer(word)) return fmt::format("{}", as_integer(word));
  if (const std::optional<double> value = as_ordinary_float(word)) {
    return fmt::format("{:.6g}", *value);
  }
  return fmt::format("{:#x}", word.bits);
}

bool looks_like_seed(const Word& word) {
  constexpr std::uint64_t kAddresses = std::uint64_t{1} << 48;
  if (word.size != 8 || word.bits < kAddresses || is_ordinary_integer(word) ||
      as_ordinary_float(word)) {
    return false;
  }
  // Masks have nearly all bits or hardly any; two numbers side by side are plain in both halves.
  const int ones = std::popcount(word.bits);
  const Word low{word.bits & 0xFFFF'FFFFU, 4};
  const Word high{word.bits >> 32, 4};
  return ones >= 16 && ones <= 48 && !(is_plain_half(low) && is_plain_half(high));
}

}  // namespace graphsan::probes
