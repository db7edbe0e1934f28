#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "step/minimax_m3/step_program.hpp"

namespace graphsan::test {

/// A fault of the built-in step, written from the list of mechanisms alone.
struct UnseenFault {
  std::string mechanism;  ///< id that the tool must name
  std::string name;
  std::string options;  ///< of `graphsan check`, under which it shows
  step::minimax_m3::ProgramFactory program;

  friend void PrintTo(const UnseenFault& fault, std::ostream* out) {
    *out << fault.mechanism << ':' << fault.name << ' ' << fault.options;
  }
};

/// Work, values, addresses, lifetimes, host memory and padding.
[[nodiscard]] const std::vector<UnseenFault>& unseen_faults_first();

}  // namespace graphsan::test
