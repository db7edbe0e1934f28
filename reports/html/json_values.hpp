#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/cache_layout.hpp"

namespace graphsan::reports::html {

/// Keeps the order in which keys were added, so that equal reports give equal bytes.
using Json = nlohmann::ordered_json;

/// The text of `value` as it goes into the page: pure ASCII, and free of `<`, `>` and `&`, so that
/// no name can end the script element that holds it. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string to_script_text(const Json& value);

/// A JSON number with six significant digits; the words `nan`, `inf` and `-inf` for what JSON
/// cannot say.
[[nodiscard]] Json number(double value);

/// `0x` and lower-case digits: JavaScript cannot hold 64 bits in a number.
[[nodiscard]] std::string hex_address(std::uint64_t address);

[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

/// Sorted row numbers as ranges: `{total, ranges: [begin, length, begin, length ...], left_out}`.
/// At most `max_ranges` ranges are kept; `left_out` counts the rows of the others.
[[nodiscard]] Json row_ranges(std::span<const std::int64_t> rows, std::size_t max_ranges);

/// Bytes of the page that may still be used by one part of it.
class Budget {
 public:
  explicit Budget(std::size_t bytes) : left_{bytes} {}
  [[nodiscard]] std::size_t left() const { return left_; }
  /// A part of what is left, in percent.
  [[nodiscard]] Budget share(std::size_t percent) const { return Budget{left_ / 100 * percent}; }
  /// Takes what `value` needs; false, and nothing is taken, when that is more than is left.
  [[nodiscard]] bool take(const Json& value);

 private:
  std::size_t left_;
};

/// `{items, left_out}`: `make(item)` of the leading items that fit the budget.
template <typename Item, typename Make>
[[nodiscard]] Json limited(const std::vector<Item>& items, Budget& budget, Make make) {
  Json list = Json::array();
  for (const Item& item : items) {
    Json value = make(item);
    if (!budget.take(value)) break;
    list.push_back(std::move(value));
  }
  const std::size_t left_out = items.size() - list.size();
  return Json{{"items", std::move(list)}, {"left_out", left_out}};
}

}  // namespace graphsan::reports::html
