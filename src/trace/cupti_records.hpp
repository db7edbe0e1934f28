#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>

#include "trace/activity.hpp"

namespace graphsan::trace {

/// A CUPTI record without CUPTI's types; empty for kinds that nobody asked for.
[[nodiscard]] std::optional<Activity> to_activity(const CUpti_Activity& record);

/// Joins the records of one call to an id that its thread had pushed.
struct ExternalId {
  std::uint32_t correlation = 0;
  std::uint64_t id = 0;
};

/// Empty for other records, and for ids of another kind.
[[nodiscard]] std::optional<ExternalId> to_external_id(const CUpti_Activity& record,
                                                       CUpti_ExternalCorrelationKind kind);

}  // namespace graphsan::trace
