#include "diagnose/witness.hpp"

#include <algorithm>
#include <memory>

#include "device/error.hpp"
#include "trace/activity_source.hpp"
#include "trace/activity_work.hpp"
#include "trace/cupti_activity.hpp"

namespace graphsan::diagnose {

namespace {

/// Lets a source hear a device's labels while this lives, also where a step throws.
class Hearing {
 public:
  Hearing(device::Device& device, trace::ActivitySource& source) : device_{&device} {
    device.set_label_listener(&source);
  }
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;
  ~Hearing() { device_->set_label_listener(nullptr); }

 private:
  device::Device* device_;
};

}  // namespace

void rethrow_if_lost(const std::exception& error) {
  const auto* refused = dynamic_cast<const device::DeviceError*>(&error);
  if (refused != nullptr && refused->kind() == device::ErrorKind::kSticky) throw;
}

bool launches_unseen(const run::CaseRun& run, int step) {
  const auto is_kernel = [](const model::Work& node) {
    return node.type == model::NodeType::kKernel;
  };
  const bool captured =
      std::any_of(run.facts.segments.begin(), run.facts.segments.end(),
                  [&](const model::GraphSegment& segment) {
                    return std::any_of(segment.nodes.begin(), segment.nodes.end(), is_kernel);
                  });
  const std::vector<device::WorkRecord>& work =
      run.eager.steps[static_cast<std::size_t>(step)].work;
  return captured && std::none_of(work.begin(), work.end(), [](const device::WorkRecord& record) {
           return record.kernel != nullptr;
         });
}

std::vector<model::Work> witnessed_launches(run::ArmRunner& runner, run::CaseRun& run,
                                            step::Arm arm, int step) {
  std::unique_ptr<trace::ActivitySource> source;
  std::vector<trace::Activity> seen;
  run::PassOptions options;
  options.resync_to = &run.eager;
  options.before_run = [&](int now) {
    if (now == step) source->start();
  };
  options.after_run = [&](int now) {
    if (now != step) return;
    runner.device().synchronize(runner.stream());
    seen = source->stop();
  };
  try {
    source = trace::make_cupti_activity_source();
    const Hearing hearing{runner.device(), *source};
    static_cast<void>(runner.run_eager(arm, model::Phase::kExperiment, options));
  } catch (const std::exception& error) {
    rethrow_if_lost(error);
    run.notes.push_back(std::string{"what the step launches was not seen, and no node was set "
                                    "beside a launch: "} +
                        error.what());
    return {};
  }
  std::vector<model::Work> launched = trace::launched_work(seen);
  if (launched.empty()) {
    run.notes.push_back("the tracer saw no launch of the step, and no node was set beside one");
  }
  return launched;
}

}  // namespace graphsan::diagnose
