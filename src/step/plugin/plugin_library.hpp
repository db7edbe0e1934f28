#pragma once

#include <graphsan/plugin.h>

#include <memory>
#include <string>

namespace graphsan::step::plugin {

/// A step's functions: those of a loaded plug-in, or a table that the calling program hands over.
///
/// A shared library stays mapped as long as this lives, and after it, since captured work may name
/// its code until the process ends.
class PluginLibrary {
 public:
  /// Throws PluginUnusable for a file that is not there or cannot be loaded, a missing symbol,
  /// another ABI version, and a table without one of the functions that are not optional.
  explicit PluginLibrary(const std::string& path);
  /// Copies a table of this process; what its pointers name must outlive this. Throws
  /// PluginUnusable as for a library's.
  explicit PluginLibrary(const graphsan_plugin_table& table);

  [[nodiscard]] const graphsan_plugin_table& table() const { return table_; }
  /// The path of the library, or the table's own name.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// How messages speak of it: `plug-in PATH`, or `step NAME` for a table.
  [[nodiscard]] const std::string& title() const { return title_; }

 private:
  std::string name_;
  std::string title_;
  graphsan_plugin_table table_{};
};

}  // namespace graphsan::step::plugin
