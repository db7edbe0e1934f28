#include "check/check_in_process.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "check/run_assembly.hpp"

namespace graphsan::check {

namespace {

/// Nobody watches: there is no other process that could outlive a crash.
class NoObserver final : public model::Observer {
 public:
  void on_event(const model::Event&) override {}
};

/// Runs one case. An experiment that threw is left out of another try, as long as the device lives.
CaseResult run_case(device::Device& device, const CheckOptions& options, int index) {
  NoObserver nobody;
  CaseWatch watch;
  watch.observer = &nobody;
  std::optional<model::CaseReport> before;
  std::optional<model::CaseReport> draft;
  watch.on_draft = [&](const model::CaseReport& report) { draft = report; };
  for (;;) {
    CaseResult result = check_case(device, options.cases.at(static_cast<std::size_t>(index)), index,
                                   options.factory, watch);
    const bool again =
        result.lost_in && !result.device_lost && watch.experiments.left_out.size() < kMostLeftOut &&
        watch.experiments.left_out.emplace(*result.lost_in, result.lost_words).second;
    if (result.report.failure && draft) {
      result.report = better_of(std::move(*draft), std::move(result.report));
    }
    draft.reset();
    if (before) result.report = better_of(std::move(*before), std::move(result.report));
    if (!again) return result;
    before = std::move(result.report);
  }
}

}  // namespace

model::RunReport check_in_process(const CheckOptions& options) {
  RunAssembly assembly{options};
  const std::unique_ptr<device::Device> device = open_device(options.device, seed_of(options));
  if (options.admit) {
    for (const CaseRequest& request : options.cases) options.admit(*device, request);
  }
  assembly.begin(describe_environment(*device));
  std::vector<model::CaseReport> ended;
  bool lost = false;
  while (!lost && ended.size() < options.cases.size()) {
    CaseResult result = run_case(*device, options, static_cast<int>(ended.size()));
    lost = result.lost;
    ended.push_back(std::move(result.report));
    assembly.add(ended.back());
  }
  const std::string why = ended.size() < options.cases.size()
                              ? fmt::format("the device was lost after {} of {} cases",
                                            ended.size(), options.cases.size())
                              : std::string{};
  return assembly.finish(std::move(ended), why);
}

}  // namespace graphsan::check
