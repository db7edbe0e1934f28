#pragma once

#include <graphsan/plugin.h>

#include <memory>
#include <string>

namespace graphsan::step::plugin {

/// A loaded plug-in: the shared library stays mapped as long as this lives, and after it, since
/// captured work may name its code until the process ends.
class PluginLibrary {
 public:
  /// Throws PluginUnusable for a file that is not there or cannot be loaded, a missing symbol,
  /// another ABI version, and a table without one of the functions that are not optional.
  explicit PluginLibrary(const std::string& path);

  [[nodiscard]] const graphsan_plugin_table& table() const { return table_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  graphsan_plugin_table table_{};
};

}  // namespace graphsan::step::plugin
