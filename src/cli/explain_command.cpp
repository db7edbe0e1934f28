#include <fmt/format.h>

#include <ostream>

#include "cli/command.hpp"
#include "probes/registry.hpp"

namespace graphsan::cli {

namespace {

int explain(const std::string& mechanism, Context& context) {
  const diagnose::ProbeRegistry registry = probes::builtin_probes();
  const diagnose::MechanismText* text = registry.text(mechanism);
  if (text == nullptr) {
    std::string known;
    for (const std::string& id : registry.ids()) known += (known.empty() ? "" : ", ") + id;
    throw BadUsage{
        fmt::format("explain: no mechanism is called '{}'; there are: {}", mechanism, known)};
  }
  context.out << text->text;
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, Registration& chosen) {
  auto mechanism = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("explain", "what a mechanism is, how it is detected, how to fix it");
  command->add_option("mechanism", *mechanism, "see `graphsan list mechanisms`")->required();
  command->callback([mechanism, &chosen] {
    chosen.action = [mechanism](Context& context) { return explain(*mechanism, context); };
  });
}

}  // namespace graphsan::cli
