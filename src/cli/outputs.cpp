#include "cli/outputs.hpp"

#include <fmt/format.h>

#include <ostream>

#include "reports/reports.hpp"

namespace graphsan::cli {

namespace {

/// Whether writing one path would overwrite the other; devices and pipes take any number of
/// writers.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  const auto status = std::filesystem::status(a, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return false;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(a, error), error) ==
         std::filesystem::weakly_canonical(std::filesystem::absolute(b, error), error);
}

}  // namespace

void Outputs::add_options(CLI::App& command) {
  command.add_option("--html", html_, "write the report as one self-contained page")
      ->type_name("FILE")
      ->group("Output");
  json_option_ = command
                     .add_option("--json", json_,
                                 "write the report as JSON, to standard output without a file")
                     ->expected(0, 1)
                     ->type_name("[FILE]")
                     ->group("Output");
}

bool Outputs::json_on_stdout() const { return json_option_->count() > 0 && json_.empty(); }

void Outputs::open(std::vector<Taken> taken) {
  const auto add = [&](const std::string& option, const std::string& path,
                       std::unique_ptr<reports::ReportWriter> writer) {
    if (path.empty()) return;
    for (const Taken& other : taken) {
      if (!same_file(other.path, path)) continue;
      throw BadUsage{fmt::format("{} {}: that file is {} already; choose another name", option,
                                 path, other.by)};
    }
    taken.push_back({"written by " + option, path});
    files_.push_back({std::make_unique<record::OutputFile>(path), std::move(writer)});
  };
  add("--html", html_, reports::make_html_report());
  add("--json", json_, reports::make_json_report());
}

void Outputs::write(const model::RunReport& report, Context& context, bool console) {
  for (File& file : files_) {
    file.writer->write(report, file.file->stream());
    file.file->commit();
  }
  if (json_on_stdout()) {
    reports::make_json_report()->write(report, context.out);
  } else if (console) {
    reports::make_console_report(context.colour ? reports::Colour::kAlways
                                                : reports::Colour::kNever)
        ->write(report, context.out);
    if (context.progress) context.err << reports::hints(report);
  }
}

}  // namespace graphsan::cli
