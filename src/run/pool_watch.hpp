#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kvcache/row_compare.hpp"
#include "kvcache/row_hash.hpp"
#include "kvcache/row_pack.hpp"

namespace graphsan::run {

/// Which rows a pass looks at after each step.
enum class HashScope : std::uint8_t {
  kFull,        ///< every row, after every step
  kIncremental  ///< the expected rows; every row after the first and the last step
};

/// Finds out which rows a step changed: digests before against digests after, on the device.
class PoolWatch {
 public:
  explicit PoolWatch(const kvcache::CacheSet& caches);

  /// Hashes every row; what the next step is compared with.
  void rebase(device::StreamRef stream);
  /// Takes the current bytes of `rows` as what the next step is compared with.
  void rebase_rows(device::StreamRef stream, std::span<const std::int64_t> rows);
  /// Rows that changed since the last rebase or call, sorted; all rows are looked at. Synchronizes.
  [[nodiscard]] std::vector<std::int64_t> changed(device::StreamRef stream);
  /// The same, looking at `rows` only.
  [[nodiscard]] std::vector<std::int64_t> changed_among(device::StreamRef stream,
                                                        std::span<const std::int64_t> rows);

 private:
  [[nodiscard]] std::vector<std::int64_t> settle(device::StreamRef stream);
  void hash_rows(device::StreamRef stream, std::span<const std::int64_t> rows,
                 kvcache::DigestTable& into);

  const kvcache::CacheSet* caches_;
  kvcache::DigestTable before_;
  kvcache::DigestTable after_;
};

}  // namespace graphsan::run
