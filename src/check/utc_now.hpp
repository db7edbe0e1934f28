#pragma once

#include <string>

namespace graphsan::check {

/// Now, as ISO 8601 in UTC.
[[nodiscard]] std::string utc_now();

}  // namespace graphsan::check
