#include "reports/html/json_values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace graphsan::reports::html {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string_view escape_of(char c) {
  if (c == '<') return "\\u003c";
  if (c == '>') return "\\u003e";
  if (c == '&') return "\\u0026";
  return {};
}

}  // namespace

std::string to_script_text(const Json& value) {
  const std::string plain = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string text;
  text.reserve(plain.size());
  for (const char c : plain) {
    const std::string_view escape = escape_of(c);
    if (escape.empty()) {
      text.push_back(c);
    } else {
      text.append(escape);
    }
  }
  return text;
}

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

std::string hex_address(std::uint64_t address) { return fmt::format("{:#x}", address); }

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      word = word << 8U | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= count ? kAlphabet[word >> (18 - 6 * i) & 63U] : '=');
    }
  }
  return text;
}

Json row_ranges(std::span<const std::int64_t> rows, std::size_t max_ranges) {
  Json ranges = Json::array();
  std::size_t at = 0;
  while (at < rows.size() && ranges.size() < 2 * max_ranges) {
    std::size_t end = at + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    ranges.push_back(rows[at]);
    ranges.push_back(end - at);
    at = end;
  }
  return Json{
      {"total", rows.size()}, {"ranges", std::move(ranges)}, {"left_out", rows.size() - at}};
}

bool Budget::take(const Json& value) {
  const std::size_t needed = to_script_text(value).size() + 1;
  if (needed > left_) return false;
  left_ -= needed;
  return true;
}

}  // namespace graphsan::reports::html
