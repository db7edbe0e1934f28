#pragma once

#include <iosfwd>

#include "model/run_report.hpp"

namespace graphsan::reports {

/// Writes a run report in one format. Sees nothing but the report: equal reports give equal bytes.
class ReportWriter {
 public:
  virtual ~ReportWriter() = default;
  virtual void write(const model::RunReport& report, std::ostream& out) const = 0;
};

}  // namespace graphsan::reports
