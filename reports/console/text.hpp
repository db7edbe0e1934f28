#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/finding.hpp"
#include "reports/reports.hpp"

namespace graphsan::reports::console {

/// Columns that a line of the console report may take.
inline constexpr std::size_t kWidth = 100;

/// Columns that a UTF-8 text takes, each code point one.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// Breaks `text` at spaces into lines of at most kWidth columns, each ended by a newline. The first
/// line starts with `first`, the others with as many spaces as `first` has columns. Control
/// characters, newlines too, become spaces. A word longer than a line stays whole.
[[nodiscard]] std::string wrap(std::string_view first, std::string_view text);

/// `3 rows`, `1 row`.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view singular);

/// `items` with `separator` between.
[[nodiscard]] std::string join(const std::vector<std::string>& items, std::string_view separator);

/// `page 33 slots 126-127, page 40 slot 0`; at most `limit` ranges, then `and 12 more`.
[[nodiscard]] std::string page_slot_ranges(std::vector<model::PageSlot> rows, std::size_t limit);

/// `1, 3-5` of numbers in any order.
[[nodiscard]] std::string number_ranges(std::vector<std::int64_t> numbers);

/// Wraps words in terminal colours, or leaves them as they are.
class Paint {
 public:
  explicit Paint(Colour colour) : on_{colour == Colour::kAlways} {}
  [[nodiscard]] std::string bold(std::string_view text) const { return paint("1", text); }
  [[nodiscard]] std::string good(std::string_view text) const { return paint("32", text); }
  [[nodiscard]] std::string bad(std::string_view text) const { return paint("1;31", text); }
  [[nodiscard]] std::string unsure(std::string_view text) const { return paint("33", text); }
  /// By verdict: agreed good, diverged and hazard bad, inconclusive unsure.
  [[nodiscard]] std::string verdict(model::Verdict verdict, std::string_view text) const;

 private:
  [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const;
  bool on_;
};

}  // namespace graphsan::reports::console
