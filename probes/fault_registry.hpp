#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/step_program.hpp"

namespace graphsan::faults {

/// A fault that can be planted into the built-in step with `--fault ID:VARIANT`.
struct PlantedFault {
  std::string id;  ///< the mechanism
  std::string variant;
  std::string description;
  /// Options of `check` under which it shows, such as `--mode full --layers 3`; they count as
  /// defaults, so the command line beats them.
  std::string options;
  /// The step's host code with the fault in it.
  step::minimax_m3::ProgramFactory program;
  /// The same, repaired: nothing may be found in it.
  step::minimax_m3::ProgramFactory clean_twin;
};

/// All planted faults, ordered by mechanism; of one mechanism the plainest first.
[[nodiscard]] const std::vector<PlantedFault>& planted_faults();

/// `ID` or `ID:VARIANT`; the first variant where none is given; null for an unknown one.
[[nodiscard]] const PlantedFault* find_fault(std::string_view name);

}  // namespace graphsan::faults
