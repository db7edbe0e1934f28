#include "step/plugin/plugin_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "step/plugin/abi_struct.hpp"
#include "step/plugin/plugin_error.hpp"

namespace graphsan::step::plugin {

namespace {

constexpr const char* kSymbol = "graphsan_plugin";

/// A name without a slash would be looked for in the system's folders.
std::string path_to_load(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

std::string absent_functions(const graphsan_plugin_table& table) {
  std::vector<const char*> absent;
  const auto require = [&](bool there, const char* name) {
    if (!there) absent.push_back(name);
  };
  require(table.create != nullptr, "create");
  require(table.destroy != nullptr, "destroy");
  require(table.describe != nullptr, "describe");
  require(table.batch != nullptr, "batch");
  require(table.prepare != nullptr, "prepare");
  require(table.run != nullptr, "run");
  require((table.capture == nullptr) == (table.release == nullptr),
          "capture or release, of which "
          "one came without the other");
  return fmt::format("{}", fmt::join(absent, ", "));
}

/// A copy of a table that this build can use; `whose` names it where it is none.
graphsan_plugin_table accepted(const graphsan_plugin_table& table, const std::string& whose) {
  if (table.abi_version != GRAPHSAN_PLUGIN_ABI) {
    throw PluginUnusable{fmt::format(
        "{}: built for plug-in ABI {}, and this is ABI {}; build it again with this release's "
        "<graphsan/plugin.h>",
        whose, table.abi_version, GRAPHSAN_PLUGIN_ABI)};
  }
  if (sets_unknown(&table, table.struct_size, sizeof(table))) {
    throw PluginUnusable{fmt::format(
        "{}: its table, of a newer <graphsan/plugin.h>, sets a function that this release does not "
        "know; use a newer GraphSan",
        whose)};
  }
  const auto known = known_part<graphsan_plugin_table>(&table, table.struct_size);
  if (const std::string absent = absent_functions(known); !absent.empty()) {
    throw PluginUnusable{fmt::format(
        "{}: its table lacks {}; set them, and struct_size to sizeof(graphsan_plugin_table)", whose,
        absent)};
  }
  return known;
}

}  // namespace

PluginLibrary::PluginLibrary(const std::string& path) : name_{path}, title_{"plug-in " + path} {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw PluginUnusable{
        fmt::format("{}: no such file; --step takes the path of a plug-in that "
                    "exports graphsan_plugin(), or minimax-m3",
                    path)};
  }
  // Never closed: graphs and threads of a framework may name its code until the process ends.
  void* library = ::dlopen(path_to_load(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw PluginUnusable{
        fmt::format("{}: cannot be loaded: {}; `ldd` lists what it needs and does not find", path,
                    ::dlerror())};
  }
  void* symbol = ::dlsym(library, kSymbol);
  if (symbol == nullptr) {
    throw PluginUnusable{
        fmt::format("{}: exports no {}(); define it with C linkage and default visibility, as "
                    "<graphsan/plugin.h> declares it",
                    path, kSymbol)};
  }
  const graphsan_plugin_table* table = nullptr;
  try {
    table = reinterpret_cast<decltype(&graphsan_plugin)>(symbol)();
  } catch (...) {
    throw PluginUnusable{fmt::format("{}: {}() threw an exception", path, kSymbol)};
  }
  if (table == nullptr) {
    throw PluginUnusable{fmt::format("{}: {}() returned null", path, kSymbol)};
  }
  table_ = accepted(*table, path);
}

PluginLibrary::PluginLibrary(const graphsan_plugin_table& table)
    : name_{"the step's table"}, title_{"the step"} {
  table_ = accepted(table, name_);
  if (table_.name != nullptr && *table_.name != '\0') {
    name_ = table_.name;
    title_ = "step " + name_;
  }
}

}  // namespace graphsan::step::plugin
