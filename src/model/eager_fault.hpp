#pragma once

#include <cstdint>

#include "model/facts.hpp"

namespace graphsan::model {

/// What eager does wrong by itself where nothing else differs.
enum class EagerFault : std::uint8_t {
  kNone,         ///< nothing, or not that alone
  kSameInGraph,  ///< it leaves the slot mapping, and the graph writes the same rows and bytes
  kNotInGraph    ///< it leaves out rows, and the graph writes all that the slot mapping names
};

/// Whether all that differs is eager's own fault, so that the graph is not to blame. Selections and
/// outputs may differ only in the sequences whose rows eager left out in that step, or as carried.
[[nodiscard]] EagerFault eager_fault(const Facts& facts);

}  // namespace graphsan::model
