#pragma once

#include <stdexcept>

namespace graphsan::step::plugin {

/// The library is no plug-in that this build can use: bad usage, and what to do about it.
class PluginUnusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A function of a plug-in failed, or gave something that makes no step: a failure of the step.
class PluginFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace graphsan::step::plugin
