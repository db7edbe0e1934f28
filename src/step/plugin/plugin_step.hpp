#pragma once

#include <graphsan/plugin.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "step/plugin/plugin_host.hpp"
#include "step/plugin/plugin_library.hpp"
#include "step/step.hpp"

namespace graphsan::step::plugin {

class CapturedPlugin;

/// What a user chose for a plug-in's captures.
struct PluginOptions {
  std::string text;  ///< handed to create()
  CaptureMetadata metadata = CaptureMetadata::kDummy;
};

/// A step whose code lives in a plug-in, through the C ABI.
///
/// Throws PluginFailure, with the function, the step and the plug-in's own words, where a function
/// returns non-zero or declares what is no memory; DeviceError where a device call that the plug-in
/// made through its host table failed, whatever the plug-in made of it.
class PluginStep final : public Step {
 public:
  /// `library` is shared with the captured steps.
  PluginStep(device::Device& device, std::shared_ptr<const PluginLibrary> library,
             PluginOptions options);
  ~PluginStep() override;
  PluginStep(const PluginStep&) = delete;
  PluginStep& operator=(const PluginStep&) = delete;

  [[nodiscard]] const StepDescription& description() const override { return description_; }
  [[nodiscard]] model::StepFacts plan(int step) const override;
  [[nodiscard]] std::vector<OutputView> outputs(int step, Arm arm) const override;
  [[nodiscard]] std::vector<InputView> inputs(int step, Arm arm) const override;
  [[nodiscard]] std::vector<OpaqueView> opaque() const override { return states_; }
  void reset(device::StreamRef stream) override;
  /// Plug-ins have no profiling run.
  void profile(device::StreamRef) override {}
  void write_history(device::StreamRef stream) override;
  void prepare(int step, Arm arm, device::StreamRef stream) override;
  void run(int step, Arm arm, device::StreamRef stream) override;
  [[nodiscard]] std::unique_ptr<CapturedStep> capture(const CaptureRequest& request,
                                                      device::StreamRef stream) override;
  [[nodiscard]] device::AddressMap addresses() const override;

 private:
  void create();
  void describe();
  void destroy() noexcept;
  /// A cache that begins in memory of ours must end there.
  void require_inside(const kvcache::CacheView& view) const;
  /// Calls a function of the plug-in; `what` names it in a failure.
  template <typename Function, typename... Arguments>
  void call(const std::string& what, Function function, Arguments... arguments) const;
  /// What an optional function of the plug-in declares for a call; nothing where it has none.
  template <typename Declared>
  [[nodiscard]] std::vector<Declared> ask(const char* what,
                                          int (*function)(void*, const graphsan_call*,
                                                          const Declared**, std::int32_t*),
                                          const graphsan_call& one) const;
  [[nodiscard]] graphsan_call call_of(int step, Arm arm, device::StreamRef stream) const;
  [[nodiscard]] graphsan_call capture_call(const CaptureRequest& request, int bucket,
                                           device::StreamRef stream) const;
  /// Takes the plug-in's own graphs; false where it leaves the capture to GraphSan.
  bool adopt_own(CapturedPlugin& captured, const graphsan_call& one);
  void capture_bucket(CapturedPlugin& captured, const CaptureRequest& request, int bucket,
                      device::StreamRef stream);
  void fill_rows(const kvcache::CacheView& view, device::StreamRef stream);

  device::Device* device_;
  std::shared_ptr<const PluginLibrary> library_;
  PluginOptions options_;
  device::Stream setup_stream_;
  std::unique_ptr<PluginHost> host_;
  void* self_ = nullptr;
  StepDescription description_;
  std::vector<OpaqueView> states_;
  std::vector<model::StepFacts> batches_;
  /// What the first arm that was asked declared as outputs of a step.
  mutable std::map<int, std::vector<std::string>> outputs_;
};

}  // namespace graphsan::step::plugin
