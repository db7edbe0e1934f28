#pragma once

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>

#include "reports/report_writer.hpp"

namespace graphsan::test {

/// Folder of the stored reports, tests/data/golden_reports.
inline std::filesystem::path golden_folder() {
  const char* const data = std::getenv("GRAPHSAN_TEST_DATA");
  if (data == nullptr) throw std::runtime_error{"set GRAPHSAN_TEST_DATA to tests/data"};
  return std::filesystem::path{data} / "golden_reports";
}

inline std::string written(const reports::ReportWriter& writer, const model::RunReport& report) {
  std::ostringstream out;
  writer.write(report, out);
  return out.str();
}

}  // namespace graphsan::test
