#pragma once

#include <graphsan/check.h>

#include <stdexcept>

#include "check/run_check.hpp"

namespace graphsan::capi {

/// A call that no check can follow. `what()` says what to change.
class BadCall : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The one case that a caller's table and options describe. Copies every text. Throws BadCall for
/// words and sizes that are none, ConfigError for a table that no check can use.
[[nodiscard]] check::CheckOptions check_options(const graphsan_plugin_table* step,
                                                const graphsan_check_options* options);

/// A word for a device: null or "" is `auto`. Throws BadCall.
[[nodiscard]] check::DeviceChoice device_choice(const char* word);

}  // namespace graphsan::capi
