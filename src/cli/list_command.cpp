#include <fmt/format.h>

#include <ostream>

#include "cli/command.hpp"
#include "probes/fault_registry.hpp"
#include "probes/registry.hpp"

namespace graphsan::cli {

namespace {

int list(const std::string& what, Context& context) {
  if (what == "steps") {
    context.out << "minimax-m3\n";
  } else if (what == "mechanisms") {
    const diagnose::ProbeRegistry registry = probes::builtin_probes();
    for (const std::string& id : registry.ids()) context.out << id << '\n';
  } else if (what == "faults") {
    for (const faults::PlantedFault& fault : faults::planted_faults()) {
      context.out << fmt::format("{}:{}  {}\n", fault.id, fault.variant, fault.description);
    }
  } else if (what == "devices") {
    context.out << "host\ncuda\n";
  } else {
    throw BadUsage{fmt::format(
        "list: unknown list '{}'; use one of: steps, mechanisms, faults, devices", what)};
  }
  return 0;
}

}  // namespace

void add_list_command(CLI::App& app, Registration& chosen) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "steps, mechanisms, faults or devices");
  command->add_option("what", *what, "steps, mechanisms, faults, devices")->required();
  command->callback([what, &chosen] {
    chosen.action = [what](Context& context) { return list(*what, context); };
  });
}

}  // namespace graphsan::cli
