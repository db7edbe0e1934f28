#pragma once

#include <cstdint>
#include <vector>

#include "kvcache/row_hash.hpp"

namespace graphsan::kvcache {

/// Global numbers of the rows whose digests differ, sorted. Compared and compacted on the device;
/// only the row numbers leave it. Synchronizes; allocates only when more than
/// DigestTable::kScratchRows rows differ. Not to be called for one `a` on two streams at once.
/// Throws std::invalid_argument when sizes differ.
[[nodiscard]] std::vector<std::int64_t> differing_rows(device::Device& device,
                                                       device::StreamRef stream,
                                                       const DigestTable& a, const DigestTable& b);

}  // namespace graphsan::kvcache
