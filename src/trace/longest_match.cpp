#include "trace/longest_match.hpp"

#include <algorithm>
#include <cstdint>

namespace graphsan::trace {
namespace {

constexpr int kBestFit = 2;

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

enum class Move : std::uint8_t { kPair, kSkipLeft, kSkipRight };

/// The moves of the best way through what is left of both sequences, from the end backwards.
class Table {
 public:
  Table(std::size_t first, std::size_t left, std::size_t right, const Fit& fit)
      : first_{first}, left_{left}, right_{right}, moves_(left * right) {
    std::vector<std::uint32_t> below(right + 1, 0);
    std::vector<std::uint32_t> row(right + 1, 0);
    for (std::size_t i = left; i-- > 0;) {
      for (std::size_t j = right; j-- > 0;) row[j] = best(i, j, row[j + 1], below, fit);
      std::swap(row, below);
    }
  }

  void append_pairs(Pairs& pairs) const {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < left_ && j < right_) {
      switch (moves_[i * right_ + j]) {
        case Move::kPair:
          pairs.emplace_back(first_ + i++, first_ + j++);
          break;
        case Move::kSkipLeft:
          ++i;
          break;
        case Move::kSkipRight:
          ++j;
          break;
      }
    }
  }

 private:
  std::uint32_t best(std::size_t i, std::size_t j, std::uint32_t skip_right,
                     const std::vector<std::uint32_t>& below, const Fit& fit) {
    const auto weight = static_cast<std::uint32_t>(fit(first_ + i, first_ + j));
    const std::uint32_t pair = weight == 0 ? 0 : below[j + 1] + weight;
    const std::uint32_t skip_left = below[j];
    const std::uint32_t most = std::max({pair, skip_left, skip_right});
    Move move = skip_left == most ? Move::kSkipLeft : Move::kSkipRight;
    if (weight > 0 && pair == most) move = Move::kPair;
    moves_[i * right_ + j] = move;
    return most;
  }

  std::size_t first_;
  std::size_t left_;
  std::size_t right_;
  std::vector<Move> moves_;
};

}  // namespace

Pairs longest_match(std::size_t left, std::size_t right, const Fit& fit) {
  const std::size_t shorter = std::min(left, right);
  std::size_t head = 0;
  while (head < shorter && fit(head, head) == kBestFit) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head && fit(left - 1 - tail, right - 1 - tail) == kBestFit) ++tail;
  Pairs pairs;
  for (std::size_t i = 0; i < head; ++i) pairs.emplace_back(i, i);
  Table{head, left - head - tail, right - head - tail, fit}.append_pairs(pairs);
  for (std::size_t i = tail; i-- > 0;) pairs.emplace_back(left - 1 - i, right - 1 - i);
  return pairs;
}

}  // namespace graphsan::trace
