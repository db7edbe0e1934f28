#include <filesystem>
#include <ostream>

#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "record/recording.hpp"
#include "reports/reports.hpp"

namespace graphsan::cli {

namespace {

struct ReportCommand {
  std::string recording;
  Outputs outputs;

  int run(Context& context) {
    outputs.open({{"the recording", recording}});
    const model::RunReport report = record::read_recording(recording);
    outputs.write(report, context, !outputs.any_file());
    (outputs.json_on_stdout() ? context.err : context.out)
        << reports::summary_line(report) << std::endl;
    return report.complete ? model::kExitAgreed : model::kExitInconclusive;
  }
};

}  // namespace

void add_report_command(CLI::App& app, Registration& chosen) {
  auto command = std::make_shared<ReportCommand>();
  CLI::App* report = app.add_subcommand("report", "write reports from a recording; needs no GPU");
  report->add_option("recording", command->recording, "a recording made with --record")
      ->required()
      ->type_name("FILE");
  command->outputs.add_options(*report);
  report->callback([command, &chosen] {
    chosen.action = [command](Context& context) { return command->run(context); };
    chosen.summary =
        command->outputs.json_on_stdout() ? Summary::kStandardError : Summary::kStandardOutput;
  });
}

}  // namespace graphsan::cli
