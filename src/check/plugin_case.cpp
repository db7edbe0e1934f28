#include "check/plugin_case.hpp"

#include <algorithm>
#include <utility>

#include "step/plugin/plugin_error.hpp"
#include "step/plugin/plugin_step.hpp"

namespace graphsan::check {

namespace {

using step::plugin::PluginLibrary;

std::shared_ptr<const PluginLibrary> load(const CaseRequest& request) {
  try {
    return std::make_shared<const PluginLibrary>(request.plugin);
  } catch (const step::plugin::PluginUnusable& error) {
    throw step::minimax_m3::ConfigError{std::string{"--step: "} + error.what()};
  }
}

std::unique_ptr<step::Step> make_step(device::Device& device, const CaseRequest& request,
                                      std::shared_ptr<const PluginLibrary> library) {
  return std::make_unique<step::plugin::PluginStep>(
      device, std::move(library),
      step::plugin::PluginOptions{request.plugin_options, request.config.capture_metadata.value_or(
                                                              step::CaptureMetadata::kDummy)});
}

}  // namespace

void admit_plugin_step(device::Device&, const CaseRequest& request) {
  static_cast<void>(load(request));
}

std::unique_ptr<step::Step> make_plugin_step(device::Device& device, const CaseRequest& request) {
  return make_step(device, request, load(request));
}

StepFactory handed_over_step(const graphsan_plugin_table& table) {
  std::shared_ptr<const PluginLibrary> library;
  try {
    library = std::make_shared<const PluginLibrary>(table);
  } catch (const step::plugin::PluginUnusable& error) {
    throw step::minimax_m3::ConfigError{error.what()};
  }
  return [library](device::Device& device, const CaseRequest& request) {
    return make_step(device, request, library);
  };
}

void describe_plugin_step(const step::Step& step, model::CaseConfig& config) {
  const step::StepDescription& description = step.description();
  config.step = description.name;
  config.steps = description.steps;
  const model::CacheLayout& first = description.caches.front().layout;
  config.kv_dtype = model::to_string(first.dtype);
  config.page_size = static_cast<int>(first.page_size);
  config.layers = 0;
  for (const kvcache::CacheView& view : description.caches) {
    config.layers = std::max(config.layers, view.layout.layer + 1);
  }
  const model::StepFacts batch = step.plan(0);
  config.batch = batch.batch;
  config.tokens = batch.tokens;
  config.bucket = batch.bucket;
}

}  // namespace graphsan::check
