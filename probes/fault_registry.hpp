#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/insert_path.hpp"

namespace graphsan::faults {

/// A fault that can be planted into the built-in step with `--fault ID:VARIANT`.
struct PlantedFault {
  std::string id;  ///< the mechanism
  std::string variant;
  std::string description;
  /// The write path with the fault in it, for a configuration.
  std::shared_ptr<const step::minimax_m3::InsertPath> (*insert_path)(
      const step::minimax_m3::Config& config);
};

/// All planted faults, ordered by id and variant.
[[nodiscard]] const std::vector<PlantedFault>& planted_faults();

/// `ID` or `ID:VARIANT`; the first variant where none is given; null for an unknown one.
[[nodiscard]] const PlantedFault* find_fault(std::string_view name);

}  // namespace graphsan::faults
