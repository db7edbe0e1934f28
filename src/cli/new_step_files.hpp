#pragma once

#include <span>
#include <string_view>

namespace graphsan::cli {

/// A file of a new step, relative to its folder.
struct NewStepFile {
  std::string_view name;
  std::string_view text;
};

/// A small step that works, to be edited: its source, its CMake project, its README.
[[nodiscard]] std::span<const NewStepFile> new_step_files();

}  // namespace graphsan::cli
