#include "cli/progress_line.hpp"

#include <fmt/format.h>

#include <ostream>

namespace graphsan::cli {

ProgressLine::~ProgressLine() {
  if (shown_) context_->err << "\r\033[K" << std::flush;
}

void ProgressLine::show(const check::Progress& progress) {
  if (!context_->progress) return;
  const std::string step =
      progress.step >= 0 ? fmt::format(", step {}", progress.step) : std::string{};
  context_->err << fmt::format("\r\033[K{} of {} cases done; {}{}", progress.done, progress.total,
                               progress.phase, step)
                << std::flush;
  shown_ = true;
}

}  // namespace graphsan::cli
