#include <iostream>
#include <memory>
#include <string_view>

#include "reports/reports.hpp"
#include "tests/support/sample_report.hpp"

/// Prints the sample report: `write_sample_report json|console|colour|one-case|html`.
int main(int argc, char** argv) {
  using namespace graphsan;
  const std::string_view format = argc > 1 ? argv[1] : "json";
  model::RunReport report = test::sample_report();
  std::unique_ptr<reports::ReportWriter> writer;
  if (format == "console") writer = reports::make_console_report(reports::Colour::kNever);
  if (format == "colour") writer = reports::make_console_report(reports::Colour::kAlways);
  if (format == "json") writer = reports::make_json_report();
  if (format == "html") writer = reports::make_html_report();
  if (format == "one-case") {
    report.cases.resize(1);
    writer = reports::make_console_report(reports::Colour::kNever);
  }
  if (writer == nullptr) {
    std::cerr << "unknown format " << format << "\n";
    return 2;
  }
  writer->write(report, std::cout);
  return 0;
}
