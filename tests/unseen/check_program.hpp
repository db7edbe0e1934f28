#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/check_options.hpp"
#include "step/minimax_m3/minimax_m3_step.hpp"
#include "tests/support/check_scene.hpp"

namespace graphsan::test {

/// The one case that the options of `graphsan check` describe, with that program as its step and
/// under no fault's name.
[[nodiscard]] inline model::CaseReport check_program(
    const std::string& options, const step::minimax_m3::ProgramFactory& program) {
  CLI::App app;
  cli::CheckWords words;
  cli::add_case_options(app, words);
  app.parse(options);
  const check::StepFactory factory = [&](device::Device& device,
                                         const check::CaseRequest& request) {
    return std::make_unique<step::minimax_m3::MinimaxM3Step>(device, request.config, program);
  };
  return check_on_host(cli::make_cases(words).at(0), factory).report;
}

}  // namespace graphsan::test
