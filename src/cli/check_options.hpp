#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "check/case_request.hpp"

namespace graphsan::cli {

/// The options of `check` as given, words unparsed.
struct CheckWords {
  std::string scenario;
  std::string step = "minimax-m3";
  std::string step_options;
  std::string device = "auto";
  std::vector<std::string> kv_dtype{"bf16"};
  std::vector<std::string> write_path{"fused"};
  std::vector<std::string> mode{"piecewise"};
  std::vector<std::string> batch{"decode"};
  std::vector<std::string> layout{"nhd"};
  std::vector<std::string> generation{"a"};
  std::vector<std::string> breaks;
  std::string convert = "auto";
  std::string capture_metadata;
  std::string capture_at = "start";
  std::string fused_op = "any-dtype";
  std::string fault;
  std::optional<int> tokens;
  std::optional<int> bucket;
  int steps = 4;
  int layers = 2;
  int tp = 8;
  int page_size = 128;
  int capture_limit = 512;
  std::int64_t context = 4096;
  std::uint64_t seed = 1;
  bool carry = false;
  bool clean_twin = false;
};

/// Declares the options that say what to run; a scenario file may hold any of them.
void add_case_options(CLI::App& command, CheckWords& words);

/// Sets every option that the planted fault wants and nobody gave. Throws BadUsage for an unknown
/// fault.
void apply_fault_options(CLI::App& command, const std::string& fault);

/// The one case of a plug-in. Throws BadUsage where an option that only the built-in step has was
/// given too.
[[nodiscard]] std::vector<check::CaseRequest> make_plugin_case(const CLI::App& command,
                                                               const CheckWords& words);

/// Whether --step names a shared library.
[[nodiscard]] bool is_plugin(const CheckWords& words);

/// The product of all lists as cases, in the order dtype, path, mode, batch, generation, layout.
/// Throws BadUsage, ConfigError.
[[nodiscard]] std::vector<check::CaseRequest> make_cases(const CheckWords& words);

/// What is wrong with a --seed, or nothing: the parser would wrap negative numbers and clamp large
/// ones.
[[nodiscard]] std::string problem_of_seed(const std::string& word);

/// Whether any option that describes a case was given, so that the seed scenario is not meant.
[[nodiscard]] bool describes_a_case(const CLI::App& command);

/// Sets every option of `command` that the TOML file names and the command line does not. Throws
/// BadUsage for a file that is missing or not TOML, and for an unknown key.
void apply_scenario_file(CLI::App& command, const std::string& path);

}  // namespace graphsan::cli
