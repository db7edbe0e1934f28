#include "check/case_check.hpp"

#include <fmt/format.h>

#include <chrono>

#include "check/judge.hpp"
#include "check/plugin_case.hpp"
#include "check/remedy.hpp"
#include "diagnose/diagnosis.hpp"
#include "diagnose/step_experiments.hpp"
#include "diagnose/trace_facts.hpp"
#include "probes/fault_registry.hpp"
#include "probes/registry.hpp"
#include "run/case_run.hpp"
#include "step/minimax_m3/minimax_m3_step.hpp"
#include "step/plugin/plugin_error.hpp"

namespace graphsan::check {

namespace {

using step::minimax_m3::Config;
using step::minimax_m3::ConfigError;

/// Remembers the last phase for a failure, and passes events on.
class PhaseTracker final : public model::Observer {
 public:
  explicit PhaseTracker(model::Observer& next) : next_{&next} {}
  void on_event(const model::Event& event) override {
    if (const auto* started = std::get_if<model::PhaseStarted>(&event.body)) {
      phase_ = started->phase;
      step_ = event.key.step;
    }
    next_->on_event(event);
  }
  [[nodiscard]] model::Phase phase() const { return phase_; }
  [[nodiscard]] int step() const { return step_; }

 private:
  model::Observer* next_;
  model::Phase phase_ = model::Phase::kSetUp;
  int step_ = -1;
};

/// What the graphs of the covered steps were given at capture.
std::string capture_metadata(const CaseRequest& request) {
  const Config& config = request.config;
  if (!request.plugin.empty()) {
    return std::string{step::minimax_m3::to_string(
        config.capture_metadata.value_or(step::CaptureMetadata::kDummy))};
  }
  for (const auto batch : {config.batch, step::minimax_m3::Batch::kDecode}) {
    const auto kind =
        batch == step::minimax_m3::Batch::kPrompt ? step::minimax_m3::Batch::kPrefill : batch;
    const auto preset = step::minimax_m3::capture_preset(config, kind, config.bucket);
    if (preset.covered) return std::string{step::minimax_m3::to_string(preset.metadata)};
  }
  return "none";
}

/// A finding beside which other differences stand is not the whole answer.
void note_unexplained(model::CaseReport& report, const std::vector<diagnose::RowKey>& rows) {
  if (rows.empty()) return;
  const diagnose::RowKey& first = rows.front();
  std::string place = fmt::format("an output of layer {}, lane {}", first.cache, first.row);
  if (first.kind == diagnose::SpotKind::kSelection) {
    place = fmt::format("the top-k of layer {}, lane {}", first.cache, first.row);
  } else if (first.kind == diagnose::SpotKind::kRow) {
    const model::CacheLayout& layout =
        report.facts.caches.at(static_cast<std::size_t>(first.cache));
    place = fmt::format("layer {} {}, page {} slot {}", layout.layer, to_string(layout.kind),
                        layout.page_of(first.row), layout.slot_of(first.row));
  }
  report.notes.push_back(
      fmt::format("{} differences are explained by no finding, first {} in step "
                  "{}: there is more than the findings say",
                  rows.size(), place, first.step));
}

ProofNeeds needs_of(const step::StepDescription& description, const CaseRequest& request) {
  return {description.selects_blocks, description.block_size, description.top_k,
          !request.plugin.empty()};
}

/// Completes a case by a diagnosis and its verdict.
void conclude(model::CaseReport& report, diagnose::Diagnosis diagnosis, const ProofNeeds& needs) {
  report.findings = std::move(diagnosis.findings);
  report.ruled_out = std::move(diagnosis.ruled_out);
  report.experiments = std::move(diagnosis.experiments);
  note_unexplained(report, diagnosis.unexplained);
  judge(report, needs);
}

/// What is reported where an experiment ended the process.
void note_lost(model::CaseReport& report, const std::string& experiment, const std::string& words) {
  report.notes.push_back(fmt::format(
      "the experiment \"{}\" could not be brought to an end ({}): nothing was confirmed by "
      "experiment",
      experiment, words));
}

/// The case as the comparison alone has it: foreign code is about to be captured once more. Nothing
/// is known of nodes and launches yet, so that no mechanism is named but that values are rounded
/// otherwise.
model::CaseReport untraced(model::CaseReport report, const run::CaseRun& run,
                           const ProofNeeds& needs) {
  report.facts = run.facts;
  report.timing = run.timing;
  report.not_covered = run.not_covered;
  diagnose::Diagnosis known;
  diagnose::Diagnosis diagnosis = diagnose::diagnose(run.facts, probes::builtin_probes(), nullptr,
                                                     "no experiment: the case ended before it");
  for (model::Finding& finding : diagnosis.findings) {
    if (excuses_all(finding)) known.findings.push_back(std::move(finding));
  }
  conclude(report, std::move(known), needs);
  return report;
}

/// Runs the arms and the diagnosis. Where an experiment throws what costs this process, the report
/// is the one from before the experiments.
void run_and_diagnose(CaseResult& result, device::Device& device, const CaseRequest& request,
                      step::Step& step, PhaseTracker& tracker, const CaseWatch& watch) {
  model::CaseReport& report = result.report;
  run::ArmRunner runner{step, device, tracker, report.index};
  run::CaseOptions options;
  options.carry = request.carry;
  options.capture_over_history = request.config.capture_at == step::minimax_m3::CaptureAt::kLive;
  run::CaseRun run = run::run_case(runner, options);
  const ProofNeeds needs = needs_of(step.description(), request);
  run.facts.capture_metadata = capture_metadata(request);
  if (watch.on_draft && !request.plugin.empty()) watch.on_draft(untraced(report, run, needs));
  diagnose::add_trace_facts(runner, run);
  report.facts = run.facts;
  report.timing = run.timing;
  report.notes.insert(report.notes.end(), run.notes.begin(), run.notes.end());
  for (const std::string& note : kvcache::slow_path_notes(runner.caches())) {
    report.notes.push_back(note);
  }
  report.not_covered = std::move(run.not_covered);
  tracker.on_event({.key = {.case_index = report.index, .arm = model::Arm::kGraph},
                    .body = model::PhaseStarted{model::Phase::kExperiment}});
  diagnose::StepExperiments inner{runner, run, options, tracker, report.index};
  const diagnose::ProbeRegistry probes = probes::builtin_probes();
  const auto draft = [&] {
    model::CaseReport judged = report;
    conclude(judged,
             diagnose::diagnose(report.facts, probes, nullptr,
                                "no experiment: the one that was begun did not come to an end"),
             needs);
    return judged;
  };
  WatchedExperiments experiments{inner, watch.experiments, [&] {
                                   if (watch.on_draft) watch.on_draft(draft());
                                 }};
  try {
    conclude(report, diagnose::diagnose(report.facts, probes, &experiments), needs);
  } catch (const std::exception& error) {
    if (!experiments.under_way()) throw;
    report = draft();
    note_lost(report, *experiments.under_way(), error.what());
    const auto* refused = dynamic_cast<const device::DeviceError*>(&error);
    result.device_lost = refused != nullptr;  // any but a sticky one ends the experiment alone
    result.lost = true;
    result.lost_in = experiments.under_way();
    result.lost_words = error.what();
  }
}

void fail(model::CaseReport& report, const PhaseTracker& tracker, const std::string& what,
          const std::string& remedy) {
  report.verdict = model::Verdict::kInconclusive;
  report.failure =
      model::Failure{std::string{model::to_string(tracker.phase())}, tracker.step(), what, remedy};
  report.reason = "tool or device failure: " + what;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void require_memory(const device::Device& device, std::uint64_t needed) {
  const std::uint64_t free = device.free_memory();
  if (needed <= free) return;
  constexpr double kGib = 1ULL << 30;
  throw ConfigError{
      fmt::format("this case needs at least {:.1f} GiB and the device has {:.1f} GiB free; use a "
                  "shorter --context, fewer --layers or a smaller --bucket",
                  static_cast<double>(needed) / kGib, static_cast<double>(free) / kGib)};
}

void note_bf16_insert(const CaseRequest& request, model::CaseReport& report) {
  using step::minimax_m3::WritePath;
  const Config& config = request.config;
  if (request.plugin.empty() && config.kv_dtype == model::DType::kBf16 &&
      (config.write_path == WritePath::kInsertKvA || config.write_path == WritePath::kInsertKvB)) {
    report.notes.push_back(
        "a bf16 cache is written by the fused op, as in the seed: the insert-kv "
        "body does not run");
  }
}

}  // namespace

void admit_builtin_step(device::Device& device, const CaseRequest& request) {
  const Config& config = request.config;
  step::minimax_m3::validate(config);
  if (config.batch == step::minimax_m3::Batch::kDecode) {
    // Every lane is a sequence; asked first since the plan of a huge batch alone takes minutes.
    require_memory(device, static_cast<std::uint64_t>(config.tokens) *
                               static_cast<std::uint64_t>(config.context) *
                               step::minimax_m3::bytes_per_token(config));
  }
  require_memory(device, step::minimax_m3::memory_needed(config));
  if (!request.fault.empty() && faults::find_fault(request.fault) == nullptr) {
    throw ConfigError{"no planted fault is called " + request.fault};
  }
  static_cast<void>(step::minimax_m3::conversion_for(request.config.convert, device));
}

std::unique_ptr<step::Step> make_builtin_step(device::Device& device, const CaseRequest& request) {
  admit_builtin_step(device, request);
  step::minimax_m3::ProgramFactory program = step::minimax_m3::sound_program();
  if (!request.fault.empty()) {
    const faults::PlantedFault& fault = *faults::find_fault(request.fault);
    program = request.clean_twin ? fault.clean_twin : fault.program;
  }
  return std::make_unique<step::minimax_m3::MinimaxM3Step>(device, request.config,
                                                           std::move(program));
}

model::CaseReport better_of(model::CaseReport earlier, model::CaseReport later) {
  const bool shows_damage =
      earlier.verdict == model::Verdict::kDiverged || earlier.verdict == model::Verdict::kHazard;
  const bool as_good =
      !later.failure && model::combine({{earlier.verdict, later.verdict}}) == later.verdict;
  if (!shows_damage || as_good) return later;
  earlier.notes.push_back(
      later.failure
          ? fmt::format("this is what was known before the run of this case ended: {}",
                        later.failure->what)
          : fmt::format(
                "an experiment ended a run of this case, and the next run said \"{}\": what "
                "it does is not the same each time",
                to_string(later.verdict)));
  return earlier;
}

CaseResult check_case(device::Device& device, const CaseRequest& request, int index,
                      const StepFactory& factory, const CaseWatch& watch) {
  const Clock::time_point begin = Clock::now();
  PhaseTracker tracker{*watch.observer};
  CaseResult result;
  model::CaseReport& report = result.report;
  report.index = index;
  report.group = request.group;
  report.title = request.title;
  report.config = describe(request);
  const bool cuda = device.properties().kind == device::DeviceKind::kCuda;
  report.reproduce = reproduce_command(request, cuda ? "cuda" : "host");
  note_bf16_insert(request, report);
  tracker.on_event({.key = {.case_index = index}, .body = model::PhaseStarted{}});
  try {
    const std::unique_ptr<step::Step> step = factory(device, request);
    if (!request.plugin.empty()) {
      describe_plugin_step(*step, report.config);
      report.title = report.config.step;
    }
    run_and_diagnose(result, device, request, *step, tracker, watch);
    report.seconds = seconds_since(begin);
    if (watch.on_report && !result.lost) watch.on_report(report);
  } catch (const device::DeviceError& error) {
    fail(report, tracker, error.what(),
         remedy_for(error.kind(), tracker.phase(), !request.plugin.empty()));
    result.device_lost = error.kind() == device::ErrorKind::kSticky;
    result.lost = result.device_lost;
  } catch (const ConfigError&) {
    throw;
  } catch (const step::plugin::PluginFailure& error) {
    fail(report, tracker, error.what(), "mend the step; the message names its function");
    result.lost = true;
  } catch (const std::exception& error) {
    fail(report, tracker, error.what(), "the step threw this; run this case alone to find where");
    result.lost = true;
  } catch (...) {
    fail(report, tracker, "something was thrown that is no std::exception",
         "run this case alone to find where");
    result.lost = true;
  }
  report.seconds = seconds_since(begin);
  return result;
}

}  // namespace graphsan::check
