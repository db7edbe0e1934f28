#include "reports/console/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace graphsan::reports::console {
namespace {

/// Words of a text, cut at spaces and control characters.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code > 0x20 && code != 0x7F) {
      word += letter;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

std::string range_text(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char letter) { return (letter & 0xC0) != 0x80; }));
}

std::string wrap(std::string_view first, std::string_view text) {
  const std::string indent(columns_of(first), ' ');
  std::string lines{first};
  std::size_t column = indent.size();
  bool line_has_word = false;
  for (const std::string& word : words_of(text)) {
    const std::size_t needed = columns_of(word) + (line_has_word ? 1 : 0);
    if (line_has_word && column + needed > kWidth) {
      lines += "\n" + indent;
      column = indent.size();
      line_has_word = false;
    }
    if (line_has_word) lines += ' ';
    column += columns_of(word) + (line_has_word ? 1 : 0);
    lines += word;
    line_has_word = true;
  }
  return lines + "\n";
}

std::string counted(std::uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

std::string number_ranges(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::vector<std::string> ranges;
  for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    ranges.push_back(range_text(numbers[begin], numbers[end - 1]));
  }
  return join(ranges, ", ");
}

std::string page_slot_ranges(std::vector<model::PageSlot> rows, std::size_t limit) {
  const auto place = [](const model::PageSlot& row) { return std::tie(row.page, row.slot); };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<std::string> ranges;
  std::size_t said = 0;
  for (std::size_t begin = 0, end = 0; begin < rows.size() && ranges.size() < limit; begin = end) {
    end = begin + 1;
    while (end < rows.size() && rows[end].page == rows[begin].page &&
           rows[end].slot == rows[end - 1].slot + 1) {
      ++end;
    }
    ranges.push_back(fmt::format("page {} {} {}", rows[begin].page,
                                 end - begin == 1 ? "slot" : "slots",
                                 range_text(rows[begin].slot, rows[end - 1].slot)));
    said = end;
  }
  if (said < rows.size()) ranges.push_back(fmt::format("and {} more", rows.size() - said));
  return join(ranges, ", ");
}

std::string Paint::verdict(model::Verdict verdict, std::string_view text) const {
  switch (verdict) {
    case model::Verdict::kAgreed:
      return good(text);
    case model::Verdict::kDiverged:
    case model::Verdict::kHazard:
      return bad(text);
    case model::Verdict::kInconclusive:
      return unsure(text);
  }
  return std::string{text};
}

std::string Paint::paint(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string{text};
}

}  // namespace graphsan::reports::console
