#pragma once

#include <cstddef>
#include <cstdint>

#include "kvcache/cache_descriptor.hpp"

namespace graphsan::kvcache {

/// The logical bytes of a row of any layout and alignment, for xxh3::hash(). Words that lie aligned
/// within a run are read whole, others byte by byte.
class RowReader {
 public:
  GRAPHSAN_HOST_DEVICE RowReader(const CacheDescriptor& cache, const std::byte* row)
      : cache_{cache}, row_{row} {}

  [[nodiscard]] GRAPHSAN_HOST_DEVICE std::uint8_t u8(std::uint32_t byte) const {
    return static_cast<std::uint8_t>(row_[byte_offset(cache_, byte)]);
  }
  [[nodiscard]] GRAPHSAN_HOST_DEVICE std::uint32_t u32(std::uint32_t byte) const {
    return word<std::uint32_t>(byte);
  }
  [[nodiscard]] GRAPHSAN_HOST_DEVICE std::uint64_t u64(std::uint32_t byte) const {
    return word<std::uint64_t>(byte);
  }

 private:
  template <typename Word>
  [[nodiscard]] GRAPHSAN_HOST_DEVICE Word word(std::uint32_t byte) const {
    const std::int64_t offset = byte_offset(cache_, byte);
    const bool in_run =
        byte_offset(cache_, byte + sizeof(Word) - 1) == offset + std::int64_t{sizeof(Word)} - 1;
    if (in_run && reinterpret_cast<std::uintptr_t>(row_ + offset) % sizeof(Word) == 0) {
      return *reinterpret_cast<const Word*>(row_ + offset);
    }
    Word value = 0;
    for (std::uint32_t i = 0; i < sizeof(Word); ++i) value |= Word{u8(byte + i)} << (8 * i);
    return value;
  }

  const CacheDescriptor& cache_;
  const std::byte* row_;
};

}  // namespace graphsan::kvcache
