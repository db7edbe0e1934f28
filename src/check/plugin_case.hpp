#pragma once

#include <graphsan/plugin.h>

#include "check/case_check.hpp"

namespace graphsan::check {

/// Loads the plug-in that the request names. Throws ConfigError where it is none that can be used.
void admit_plugin_step(device::Device& device, const CaseRequest& request);

/// A step of that plug-in. Throws ConfigError like admit_plugin_step(), step::plugin::PluginFailure
/// where the plug-in fails.
[[nodiscard]] std::unique_ptr<step::Step> make_plugin_step(device::Device& device,
                                                           const CaseRequest& request);

/// Factory of steps of a table that this process hands over. Throws ConfigError where it is none
/// that can be used; the factory keeps a copy.
[[nodiscard]] StepFactory handed_over_step(const graphsan_plugin_table& table);

/// Completes what reports say of a case by what its step declares.
void describe_plugin_step(const step::Step& step, model::CaseConfig& config);

}  // namespace graphsan::check
