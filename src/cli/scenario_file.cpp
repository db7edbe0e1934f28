#include <fmt/format.h>

#include <toml++/toml.h>
#include <filesystem>

#include "cli/check_options.hpp"
#include "cli/command.hpp"

namespace graphsan::cli {

namespace {

std::string to_word(const toml::node& node, const std::string& key) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  throw BadUsage{
      fmt::format("scenario key '{}': use a string, a number, true or false, or a list "
                  "of them",
                  key)};
}

/// The parser would take `tokens = true` for 1 and `carry = 3` for a count.
void require_fitting_type(const toml::node& node, const CLI::Option& option,
                          const std::string& key) {
  const bool flag = option.get_expected_max() == 0;
  if (node.is_boolean() == flag) return;
  throw BadUsage{fmt::format("scenario key '{}': use {}", key,
                             flag ? "true or false" : "a string, a number or a list of them")};
}

std::vector<std::string> to_words(const toml::node& node, const std::string& key) {
  std::vector<std::string> words;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& element : *list) words.push_back(to_word(element, key));
  } else {
    words.push_back(to_word(node, key));
  }
  return words;
}

}  // namespace

void apply_scenario_file(CLI::App& command, const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) {
    throw BadUsage{fmt::format(
        "--scenario: there is no file '{}'; give `seed` or a TOML file of check options", path)};
  }
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    throw BadUsage{fmt::format("--scenario {}: line {}: {}", path, error.source().begin.line,
                               error.description())};
  }
  for (const auto& [name, node] : table) {
    const std::string key{name.str()};
    CLI::Option* option = command.get_option_no_throw("--" + key);
    if (option == nullptr || key == "scenario" || key == "help") {
      throw BadUsage{fmt::format(
          "--scenario {}: '{}' is not an option of check; see `graphsan check --help`", path, key)};
    }
    require_fitting_type(node, *option, key);
    if (option->count() > 0) continue;  // the command line beats the file
    try {
      for (const std::string& word : to_words(node, key)) option->add_result(word);
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      throw BadUsage{fmt::format("--scenario {}: {}", path, error.what())};
    }
  }
}

}  // namespace graphsan::cli
