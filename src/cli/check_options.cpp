#include "cli/check_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "cli/words.hpp"
#include "probes/fault_registry.hpp"

namespace graphsan::cli {

namespace {

using step::minimax_m3::Batch;
using step::minimax_m3::bucket_for;
using step::minimax_m3::CaptureAt;
using step::minimax_m3::Config;
using step::minimax_m3::ConvertChoice;
using step::minimax_m3::FusedOp;
using step::minimax_m3::Generation;
using step::minimax_m3::Layout;
using step::minimax_m3::Mode;
using step::minimax_m3::validate;
using step::minimax_m3::WritePath;

constexpr std::array kPaths{WritePath::kFused, WritePath::kTwoStep, WritePath::kInsertKvA,
                            WritePath::kInsertKvB};
constexpr std::array kModes{Mode::kPiecewise, Mode::kBreakable, Mode::kFull, Mode::kFullDecodeOnly,
                            Mode::kFullAndPiecewise};
constexpr std::array kBatches{Batch::kDecode, Batch::kPrefill, Batch::kMixed, Batch::kPrompt};
constexpr std::array kLayouts{Layout::kNhd, Layout::kHnd};
constexpr std::array kGenerations{Generation::kA, Generation::kB};
constexpr std::array kConversions{ConvertChoice::kAuto, ConvertChoice::kNative,
                                  ConvertChoice::kSoftware};
constexpr std::array kCaptureTimes{CaptureAt::kStart, CaptureAt::kLive};
constexpr std::array kFusedOps{FusedOp::kAnyDtype, FusedOp::kBf16Only};
constexpr std::array kMetadata{step::CaptureMetadata::kNone, step::CaptureMetadata::kDummy};

/// Options that describe a case; any of them given means that the seed scenario is not.
constexpr std::array kCaseOptions{"--step",       "--step-options",  "--kv-dtype",
                                  "--write-path", "--mode",          "--batch",
                                  "--break",      "--capture-at",    "--tokens",
                                  "--bucket",     "--steps",         "--layers",
                                  "--tp",         "--context",       "--page-size",
                                  "--layout",     "--fault",         "--generation",
                                  "--convert",    "--fused-op",      "--capture-metadata",
                                  "--carry",      "--capture-limit", "--seed",
                                  "--clean-twin"};

/// Those that hold for every kind of step.
constexpr std::array kCommonOptions{
    "--step", "--step-options", "--capture-at", "--capture-metadata", "--carry", "--seed"};

/// Lanes and steps beyond which the plan alone would take minutes; far beyond any engine's batch.
constexpr int kMostLanes = 65536;
constexpr int kMostSteps = 65536;

void check_sizes(const CheckWords& words) {
  const auto at_most = [](const char* option, int value, int most) {
    if (value > most) throw BadUsage{fmt::format("{} must be at most {}", option, most)};
  };
  at_most("--tokens", words.tokens.value_or(1), kMostLanes);
  at_most("--bucket", words.bucket.value_or(1), kMostLanes);
  at_most("--steps", words.steps, kMostSteps);
}

void set_sizes(const CheckWords& words, Config& config) {
  check_sizes(words);
  if (words.tokens) config.tokens = *words.tokens;
  if (words.bucket) {
    config.bucket = *words.bucket;
    if (!words.tokens) config.tokens = config.bucket;
  } else {
    config.bucket = bucket_for(std::max(1, config.tokens));
  }
}

Config base_config(const CheckWords& words) {
  Config config;
  set_sizes(words, config);
  config.steps = words.steps;
  config.layers = words.layers;
  config.tp = words.tp;
  config.page_size = words.page_size;
  config.capture_limit = words.capture_limit;
  config.context = words.context;
  config.seed = words.seed;
  config.convert = parse_word("--convert", words.convert, kConversions);
  config.capture_at = parse_word("--capture-at", words.capture_at, kCaptureTimes);
  config.fused_op = parse_word("--fused-op", words.fused_op, kFusedOps);
  if (!words.breaks.empty()) config.breaks = parse_breaks(words.breaks);
  if (!words.capture_metadata.empty()) {
    config.capture_metadata = parse_word("--capture-metadata", words.capture_metadata, kMetadata);
  }
  return config;
}

/// Mechanisms that have planted faults, each once.
std::string mechanisms() {
  std::string list;
  std::string last;
  for (const faults::PlantedFault& fault : faults::planted_faults()) {
    if (fault.id != last) list += (list.empty() ? "" : ", ") + fault.id;
    last = fault.id;
  }
  return list;
}

void check_fault(const std::string& name) {
  if (name.empty() || faults::find_fault(name) != nullptr) return;
  const std::string mechanism = name.substr(0, name.find(':'));
  std::string known;
  for (const faults::PlantedFault& fault : faults::planted_faults()) {
    if (fault.id != mechanism) continue;
    known += fmt::format("{}{}:{}", known.empty() ? "" : ", ", fault.id, fault.variant);
  }
  throw BadUsage{fmt::format("--fault: no planted fault is called '{}'; {}", name,
                             known.empty() ? "`graphsan list faults` has those of " + mechanisms()
                                           : "of this mechanism there are: " + known)};
}

}  // namespace

std::string problem_of_seed(const std::string& word) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), seed);
  if (error == std::errc{} && end == word.data() + word.size()) return {};
  return "must be a whole number from 0 to 18446744073709551615";
}

void apply_fault_options(CLI::App& command, const std::string& fault) {
  check_fault(fault);
  if (fault.empty()) return;
  std::istringstream words{faults::find_fault(fault)->options};
  std::string name;
  std::string value;
  while (words >> name >> value) {
    CLI::Option* option = command.get_option(name);
    if (option->count() > 0) continue;  // what was given beats what the fault wants
    std::istringstream list{value};
    for (std::string word; std::getline(list, word, ',');) option->add_result(word);
    option->run_callback();
  }
}

void add_case_options(CLI::App& command, CheckWords& words) {
  const auto list = [&](const char* name, std::vector<std::string>& value, const char* text) {
    command.add_option(name, value, text)->delimiter(',')->group("Case")->capture_default_str();
  };
  const auto one = [&](const char* name, auto& value, const char* text) {
    command.add_option(name, value, text)->group("Case")->capture_default_str();
  };
  one("--step", words.step, "the step under test: minimax-m3, or a plug-in (lib*.so)");
  one("--step-options", words.step_options, "text for the plug-in");
  list("--kv-dtype", words.kv_dtype, "bf16, fp8_e4m3, fp8_e5m2");
  list("--write-path", words.write_path, "fused, two-step, insert-kv-a, insert-kv-b");
  list("--mode", words.mode, "piecewise, breakable, full, full-decode-only, full-and-piecewise");
  list("--batch", words.batch, "decode, prefill, mixed, prompt (prefill once, then decode)");
  one("--tokens", words.tokens, "real lanes (default 3)");
  one("--bucket", words.bucket,
      "lanes that the batch is padded to (default: the next of 1, 2, 4, 8, 16, 24 ...)");
  one("--steps", words.steps, "steps of each arm");
  one("--layers", words.layers, "layers that feed each other");
  one("--tp", words.tp, "tensor-parallel size whose shapes one rank has: 1, 2, 4, 8");
  one("--context", words.context, "tokens of each sequence before the first step");
  one("--page-size", words.page_size, "slots of a page: 16, 32, 64, 128");
  list("--layout", words.layout, "nhd, hnd");
  list("--generation", words.generation, "cache generation: a (K and V apart), b (K|V a row)");
  one("--convert", words.convert, "fp8 conversion: auto, native, software");
  one("--fused-op", words.fused_op, "any-dtype, or bf16-only: the first generation, refuses fp8");
  list("--break", words.breaks, "ops run eagerly between segments, overriding the mode's");
  one("--capture-metadata", words.capture_metadata, "none, dummy: overrides the mode's");
  one("--capture-limit", words.capture_limit, "largest batch that is replayed as a graph");
  one("--capture-at", words.capture_at, "start, or live: between two requests");
  one("--fault", words.fault, "plant a fault, ID[:VARIANT]; see `graphsan list faults`");
  one("--seed", words.seed,
      "seed of all drawn values; on the host device, of the order of what nothing orders");
  command.get_option("--seed")->check(problem_of_seed);
  command
      .add_flag("--clean-twin", words.clean_twin,
                "with --fault: the same step with the fault repaired")
      ->group("Case");
  command.add_flag("--carry", words.carry, "carry damage from step to step, without resync")
      ->group("Case");
}

bool describes_a_case(const CLI::App& command) {
  return std::any_of(kCaseOptions.begin(), kCaseOptions.end(),
                     [&](const char* name) { return command.count(name) > 0; });
}

bool is_plugin(const CheckWords& words) {
  return words.step.ends_with(".so") || words.step.find(".so.") != std::string::npos;
}

std::vector<check::CaseRequest> make_plugin_case(const CLI::App& command, const CheckWords& words) {
  for (const char* option : kCaseOptions) {
    const bool common = std::find(kCommonOptions.begin(), kCommonOptions.end(),
                                  std::string_view{option}) != kCommonOptions.end();
    if (!common && command.count(option) > 0) {
      throw BadUsage{fmt::format(
          "{} describes the built-in step; a plug-in has its own numbers: leave it out, or pass "
          "what the plug-in understands with --step-options",
          option)};
    }
  }
  check::CaseRequest request;
  request.plugin = words.step;
  request.plugin_options = words.step_options;
  request.carry = words.carry;
  request.config.capture_at = parse_word("--capture-at", words.capture_at, kCaptureTimes);
  if (!words.capture_metadata.empty()) {
    request.config.capture_metadata =
        parse_word("--capture-metadata", words.capture_metadata, kMetadata);
  }
  request.config.seed = words.seed;
  request.group = "plug-in";
  return {request};
}

std::vector<check::CaseRequest> make_cases(const CheckWords& words) {
  if (words.step != "minimax-m3") {
    throw BadUsage{fmt::format(
        "--step: '{}' is neither minimax-m3 nor the path of a plug-in (lib*.so)", words.step)};
  }
  if (!words.step_options.empty()) {
    throw BadUsage{"--step-options are for a plug-in: name one with --step"};
  }
  check_fault(words.fault);
  if (words.clean_twin && words.fault.empty()) {
    throw BadUsage{"--clean-twin repairs a planted fault: name one with --fault"};
  }
  std::vector<check::CaseRequest> cases;
  check::CaseRequest request;
  request.fault = words.fault;
  request.clean_twin = words.clean_twin;
  request.carry = words.carry;
  request.config = base_config(words);
  Config& c = request.config;
  for (const std::string& dtype : words.kv_dtype) {
    c.kv_dtype = parse_kv_dtype(dtype);
    for (const std::string& path : words.write_path) {
      c.write_path = parse_word("--write-path", path, kPaths);
      for (const std::string& mode : words.mode) {
        c.mode = parse_word("--mode", mode, kModes);
        for (const std::string& batch : words.batch) {
          c.batch = parse_word("--batch", batch, kBatches);
          for (const std::string& generation : words.generation) {
            c.generation = parse_word("--generation", generation, kGenerations);
            for (const std::string& layout : words.layout) {
              c.layout = parse_word("--layout", layout, kLayouts);
              validate(c);
              request.group = fmt::format("{}, {} of {} lanes real, {}, generation {}", batch,
                                          c.tokens, c.bucket, layout, generation);
              cases.push_back(request);
            }
          }
        }
      }
    }
  }
  return cases;
}

}  // namespace graphsan::cli
