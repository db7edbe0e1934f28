#pragma once

#include <string>

namespace graphsan::device {

/// A C++ symbol in readable form; names that are not mangled come back as they are.
[[nodiscard]] std::string demangle(const char* symbol);

}  // namespace graphsan::device
