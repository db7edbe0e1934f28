#include <fmt/format.h>

#include <filesystem>
#include <ostream>
#include <system_error>

#include "cli/command.hpp"
#include "cli/new_step_files.hpp"
#include "record/output_file.hpp"

namespace graphsan::cli {

namespace {

/// Makes the folder, or takes one that is empty; nothing is ever overwritten.
void take_folder(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(folder, error);
  if (std::filesystem::exists(status)) {
    if (!std::filesystem::is_directory(status)) {
      throw BadUsage{
          fmt::format("new-step {}: that is no folder; name a new one", folder.string())};
    }
    if (!std::filesystem::is_empty(folder, error) || error) {
      throw BadUsage{fmt::format("new-step {}: the folder is not empty; name a new or an empty one",
                                 folder.string())};
    }
    return;
  }
  if (std::filesystem::create_directories(folder, error) || !error) return;
  throw BadUsage{fmt::format("new-step {}: the folder cannot be made: {}; name one that can",
                             folder.string(), error.message())};
}

int new_step(const std::filesystem::path& folder, Context& context) {
  take_folder(folder);
  for (const NewStepFile& one : new_step_files()) {
    record::OutputFile file{folder / one.name};
    file.stream() << one.text;
    file.commit();
  }
  const std::string at = folder.string();
  context.out << fmt::format(
      "Wrote a step to {0}; as it is, it builds and agrees:\n"
      "  cmake -S {0} -B {0}/build\n"
      "  cmake --build {0}/build\n"
      "  graphsan check --device host --step {0}/build/libstep.so\n"
      "{0}/README.md says what to edit.\n",
      at);
  return 0;
}

}  // namespace

void add_new_step_command(CLI::App& app, Registration& chosen) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("new-step", "write a small step of your own, to be edited, as a plug-in");
  command->add_option("folder", *folder, "a new or an empty folder")->required();
  command->callback([folder, &chosen] {
    chosen.action = [folder](Context& context) { return new_step(*folder, context); };
  });
}

}  // namespace graphsan::cli
