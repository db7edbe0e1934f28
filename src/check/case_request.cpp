#include "check/case_request.hpp"

#include <fmt/format.h>

namespace graphsan::check {

namespace {

using step::minimax_m3::BreakSet;
using step::minimax_m3::Config;
using step::minimax_m3::to_string;

std::string break_list(const BreakSet& breaks) {
  std::string list;
  const auto add = [&](bool set, const char* op) {
    if (set) list += (list.empty() ? "" : ",") + std::string{op};
  };
  add(breaks.norm_rope, "norm-rope");
  add(breaks.insert, "insert");
  add(breaks.indexer, "indexer");
  add(breaks.attention, "attention");
  return list.empty() ? "none" : list;
}

/// Options that hold for any step.
std::string common_options(const CaseRequest& request) {
  const Config& c = request.config;
  std::string options;
  if (c.capture_at != Config{}.capture_at) {
    options += fmt::format(" --capture-at {}", to_string(c.capture_at));
  }
  if (c.capture_metadata) {
    options += fmt::format(" --capture-metadata {}", to_string(*c.capture_metadata));
  }
  if (c.seed != Config{}.seed) options += fmt::format(" --seed {}", c.seed);
  return options;
}

/// A word as a shell takes it.
std::string quoted(const std::string& word) {
  const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

model::CaseConfig describe_plugin(const CaseRequest& request) {
  model::CaseConfig config;
  config.step = request.plugin;
  config.seed = request.config.seed;
  config.carry = request.carry;
  return config;
}

std::string reproduce_plugin(const CaseRequest& request, const std::string& device) {
  std::string command =
      fmt::format("graphsan check --device {} --step {}", device, quoted(request.plugin));
  if (!request.plugin_options.empty()) {
    command += " --step-options " + quoted(request.plugin_options);
  }
  command += common_options(request);
  return command + (request.carry ? " --carry" : "");
}

}  // namespace

model::CaseConfig describe(const CaseRequest& request) {
  if (!request.plugin.empty()) return describe_plugin(request);
  const Config& c = request.config;
  model::CaseConfig config;
  config.kv_dtype = model::to_string(c.kv_dtype);
  config.write_path = to_string(c.write_path);
  config.mode = to_string(c.mode);
  config.batch = to_string(c.batch);
  config.layout = to_string(c.layout);
  config.generation = to_string(c.generation);
  config.convert = to_string(c.convert);
  config.fault = request.fault;
  config.tokens = c.tokens;
  config.bucket = c.bucket;
  config.steps = c.steps;
  config.layers = c.layers;
  config.tp = c.tp;
  config.page_size = c.page_size;
  config.context = c.context;
  config.seed = c.seed;
  config.carry = request.carry;
  return config;
}

std::string reproduce_command(const CaseRequest& request, const std::string& device) {
  if (request.handed_over) return {};
  if (!request.plugin.empty()) return reproduce_plugin(request, device);
  const Config& c = request.config;
  const Config standard;
  std::string command = "graphsan check --device " + device;
  const auto add = [&](const char* option, const auto& value) {
    command += fmt::format(" {} {}", option, value);
  };
  add("--kv-dtype", model::to_string(c.kv_dtype));
  add("--write-path", to_string(c.write_path));
  add("--mode", to_string(c.mode));
  add("--batch", to_string(c.batch));
  add("--tokens", c.tokens);
  add("--bucket", c.bucket);
  const auto differs = [&](const char* option, const auto& value, const auto& usual) {
    if (value != usual) add(option, value);
  };
  differs("--steps", c.steps, standard.steps);
  differs("--layers", c.layers, standard.layers);
  differs("--tp", c.tp, standard.tp);
  differs("--context", c.context, standard.context);
  differs("--page-size", c.page_size, standard.page_size);
  differs("--capture-limit", c.capture_limit, standard.capture_limit);
  if (c.layout != standard.layout) add("--layout", to_string(c.layout));
  if (c.generation != standard.generation) add("--generation", to_string(c.generation));
  if (c.convert != standard.convert) add("--convert", to_string(c.convert));
  if (c.fused_op != standard.fused_op) add("--fused-op", to_string(c.fused_op));
  if (c.breaks) add("--break", break_list(*c.breaks));
  command += common_options(request);
  if (!request.fault.empty()) add("--fault", request.fault);
  if (request.clean_twin) command += " --clean-twin";
  if (request.carry) command += " --carry";
  return command;
}

}  // namespace graphsan::check
