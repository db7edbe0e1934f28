#include "cli/progress_line.hpp"

#include <fmt/format.h>

#include <ctime>
#include <ostream>

namespace graphsan::cli {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

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
