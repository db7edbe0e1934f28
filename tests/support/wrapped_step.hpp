#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "step/step.hpp"

namespace graphsan::test {

/// A step that passes everything on to another; tests override what they change.
class WrappedStep : public step::Step {
 public:
  explicit WrappedStep(std::unique_ptr<step::Step> inner) : inner_{std::move(inner)} {}

  [[nodiscard]] const step::StepDescription& description() const override {
    return inner_->description();
  }
  [[nodiscard]] model::StepFacts plan(int step) const override { return inner_->plan(step); }
  [[nodiscard]] std::vector<step::OutputView> outputs(int step, step::Arm arm) const override {
    return inner_->outputs(step, arm);
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int step, step::Arm arm) const override {
    return inner_->inputs(step, arm);
  }
  [[nodiscard]] std::optional<model::LogicalRow> owner(int cache, std::int64_t row) const override {
    return inner_->owner(cache, row);
  }
  [[nodiscard]] std::vector<step::OpaqueView> opaque() const override { return inner_->opaque(); }
  [[nodiscard]] std::vector<step::ScratchView> scratch() const override {
    return inner_->scratch();
  }
  void reset(device::StreamRef stream) override { inner_->reset(stream); }
  void profile(device::StreamRef stream) override { inner_->profile(stream); }
  void write_history(device::StreamRef stream) override { inner_->write_history(stream); }
  void prepare(int step, step::Arm arm, device::StreamRef stream) override {
    inner_->prepare(step, arm, stream);
  }
  void run(int step, step::Arm arm, device::StreamRef stream) override {
    inner_->run(step, arm, stream);
  }
  [[nodiscard]] std::unique_ptr<step::CapturedStep> capture(const step::CaptureRequest& request,
                                                            device::StreamRef stream) override {
    return inner_->capture(request, stream);
  }
  [[nodiscard]] device::AddressMap addresses() const override { return inner_->addresses(); }
  [[nodiscard]] step::Oracle* oracle() override { return inner_->oracle(); }

 protected:
  [[nodiscard]] step::Step& inner() { return *inner_; }

 private:
  std::unique_ptr<step::Step> inner_;
};

}  // namespace graphsan::test
