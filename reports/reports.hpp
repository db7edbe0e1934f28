#pragma once

#include <memory>
#include <string>

#include "reports/report_writer.hpp"

namespace graphsan::reports {

enum class Colour { kNever, kAlways };

/// For people: verdict, findings with evidence, what was ruled out, matrix; without the SUMMARY
/// line.
[[nodiscard]] std::unique_ptr<ReportWriter> make_console_report(Colour colour);
/// Commands worth trying next, a line each that starts with `Hint:`; for a terminal.
[[nodiscard]] std::string hints(const model::RunReport& report);
/// For programs: the published schema `docs/report.schema.json`.
[[nodiscard]] std::unique_ptr<ReportWriter> make_json_report();
/// One self-contained page without network.
[[nodiscard]] std::unique_ptr<ReportWriter> make_html_report();

/// Version of the JSON report's schema.
inline constexpr const char* kJsonSchemaVersion = "1.1.0";

/// `SUMMARY: graphsan: ...` on one line, without a newline.
[[nodiscard]] std::string summary_line(const model::RunReport& report);

}  // namespace graphsan::reports
