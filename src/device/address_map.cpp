#include "device/address_map.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace graphsan::device {
namespace {

bool covers(const OwnedRange& range, std::uint64_t address) {
  return range.begin <= address && address < range.end;
}

bool known_at(const OwnedRange& range, std::uint64_t epoch) {
  return range.from_epoch <= epoch && epoch < range.to_epoch;
}

bool lies_strictly_inside(const OwnedRange& inner, const OwnedRange& outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end &&
         inner.end - inner.begin < outer.end - outer.begin;
}

}  // namespace

void AddressMap::add(OwnedRange range) { ranges_.push_back(std::move(range)); }

OwnedRange AddressMap::resolve(std::uint64_t address, std::uint64_t epoch) const {
  const OwnedRange* best = nullptr;
  for (const OwnedRange& range : ranges_) {
    if (!covers(range, address) || !known_at(range, epoch)) continue;
    if (best == nullptr || !lies_strictly_inside(*best, range)) best = &range;
  }
  return best == nullptr ? OwnedRange{} : *best;
}

std::vector<OwnedRange> AddressMap::history(std::uint64_t address) const {
  std::vector<OwnedRange> held;
  std::copy_if(ranges_.begin(), ranges_.end(), std::back_inserter(held),
               [address](const OwnedRange& range) { return covers(range, address); });
  std::stable_sort(held.begin(), held.end(), [](const OwnedRange& left, const OwnedRange& right) {
    return left.from_epoch < right.from_epoch;
  });
  return held;
}

}  // namespace graphsan::device
