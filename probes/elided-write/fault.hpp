#pragma once

#include <memory>

#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/insert_path.hpp"

namespace graphsan::faults {

/// The fixed two-step path, but for index-K, which is written only where there is metadata.
[[nodiscard]] std::shared_ptr<const step::minimax_m3::InsertPath> elided_index_key(
    const step::minimax_m3::Config& config);

}  // namespace graphsan::faults
