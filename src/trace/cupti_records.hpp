#pragma once

#include <cupti.h>

#include <optional>

#include "trace/activity.hpp"

namespace graphsan::trace {

/// A CUPTI record without CUPTI's types; empty for kinds that nobody asked for.
[[nodiscard]] std::optional<Activity> to_activity(const CUpti_Activity& record);

}  // namespace graphsan::trace
