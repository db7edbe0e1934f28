#pragma once

#include <string>

#include "kvcache/cache_descriptor.hpp"

namespace graphsan::kvcache {

/// Sets `path` and `rows_per_tile` from the other members.
void choose_path(CacheDescriptor& cache);

/// Why the rows take the slower path (RowPath::kBytes), or empty where they do not.
[[nodiscard]] std::string slow_path_reason(const CacheDescriptor& cache);

}  // namespace graphsan::kvcache
