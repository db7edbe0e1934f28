#pragma once

#include <string>

namespace graphsan::device {

/// CUDA's version number, such as 13000, as people write it: `13.0`.
[[nodiscard]] inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace graphsan::device
