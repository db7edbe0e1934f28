#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace graphsan::device {

enum class Owner : std::uint8_t {
  kNamedBuffer,
  kGraphPool,
  kFreeBlock,
  kOtherAllocation,
  kHostPageable,
  kHostPinned,
  kUnknown
};

/// Who owned a range of addresses, and when (epochs of whoever feeds the map).
struct OwnedRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Owner owner = Owner::kUnknown;
  std::string name;
  std::uint64_t from_epoch = 0;
  std::uint64_t to_epoch = UINT64_MAX;  ///< exclusive
};

/// Resolves an address to its owner at an epoch. Fed by any allocator; later entries shadow
/// earlier ones, and a smaller range shadows the larger that holds it.
class AddressMap {
 public:
  void add(OwnedRange range);
  /// kUnknown with an empty name where nothing is known.
  [[nodiscard]] OwnedRange resolve(std::uint64_t address, std::uint64_t epoch) const;
  /// Every range that held the address at some time, oldest first.
  [[nodiscard]] std::vector<OwnedRange> history(std::uint64_t address) const;

 private:
  std::vector<OwnedRange> ranges_;
};

}  // namespace graphsan::device
