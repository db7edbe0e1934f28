#pragma once

#include <string>

#include "model/run_report.hpp"
#include "step/minimax_m3/config.hpp"

namespace graphsan::check {

/// One case to run: a configuration of the built-in step, and what to plant into it; or a plug-in,
/// for which of `config` only the metadata and the time of the capture count.
struct CaseRequest {
  step::minimax_m3::Config config;
  std::string plugin;          ///< path of a plug-in's library; empty: the built-in step
  bool handed_over = false;    ///< `plugin` names a table of this process: no command runs it
  std::string plugin_options;  ///< text for the plug-in
  std::string fault;           ///< `ID[:VARIANT]` of a planted fault, or empty
  bool clean_twin = false;     ///< plant its repaired form
  std::string group;           ///< heading under which the case is shown
  std::string title;
  bool carry = false;
};

/// The words that name a case in reports.
[[nodiscard]] model::CaseConfig describe(const CaseRequest& request);

/// A command line that runs this case alone on `device` (`host`, `cuda`); options that have their
/// default value are left out. Empty where none can.
[[nodiscard]] std::string reproduce_command(const CaseRequest& request, const std::string& device);

}  // namespace graphsan::check
