#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "step/minimax_m3/step_program.hpp"

namespace graphsan::test {

/// A step in which two things go wrong at once.
struct TwoMechanisms {
  std::set<std::string> mechanisms;  ///< ids of the findings that must be made, and of no others
  std::string options;               ///< of `graphsan check`, under which both show
  step::minimax_m3::ProgramFactory program;
  std::string suspected{};  ///< the one of them that no experiment can confirm, or empty

  friend void PrintTo(const TwoMechanisms& step, std::ostream* out) {
    for (const std::string& mechanism : step.mechanisms) *out << mechanism << ' ';
    *out << step.options;
  }
};

[[nodiscard]] const std::vector<TwoMechanisms>& steps_with_two_mechanisms();

}  // namespace graphsan::test
