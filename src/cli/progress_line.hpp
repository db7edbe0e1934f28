#pragma once

#include "check/supervisor.hpp"
#include "cli/command.hpp"

namespace graphsan::cli {

/// One line on a terminal, rewritten in place and wiped at the end; silent elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(Context& context) : context_{&context} {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const check::Progress& progress);

 private:
  Context* context_;
  bool shown_ = false;
};

}  // namespace graphsan::cli
