#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "probes/fault_registry.hpp"
#include "step/minimax_m3/insert_path.hpp"
#include "step/minimax_m3/step_program.hpp"

namespace graphsan::faults {

/// Which of the two programs of a planted fault a class is: the fault, or its clean twin.
enum class Repaired : std::uint8_t { kNo, kYes };

/// What names a planted variant, and the options under which it shows.
struct Variant {
  std::string id;
  std::string variant;
  std::string description;
  std::string options;
};

/// A factory of `Program(config, repaired, more...)`.
template <typename Program, typename... More>
[[nodiscard]] step::minimax_m3::ProgramFactory program_of(Repaired repaired, More... more) {
  return [=](const step::minimax_m3::Config& config) -> std::unique_ptr<Program> {
    return std::make_unique<Program>(config, repaired, more...);
  };
}

/// The fault and its twin as one class, which differs only in `Repaired`.
template <typename Program, typename... More>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from.
[[nodiscard]] PlantedFault planted(Variant words, More... more) {
  return {.id = std::move(words.id),
          .variant = std::move(words.variant),
          .description = std::move(words.description),
          .options = std::move(words.options),
          .program = program_of<Program>(Repaired::kNo, more...),
          .clean_twin = program_of<Program>(Repaired::kYes, more...)};
}

/// The built-in path of that name, whatever the case asks for: for faults in that path's host code.
[[nodiscard]] inline std::shared_ptr<const step::minimax_m3::InsertPath> path_named(
    step::minimax_m3::Config config, step::minimax_m3::WritePath path) {
  config.write_path = path;
  return step::minimax_m3::make_insert_path(config);
}

[[nodiscard]] inline std::shared_ptr<const step::minimax_m3::InsertPath> two_step_path(
    const step::minimax_m3::Config& config) {
  return path_named(config, step::minimax_m3::WritePath::kTwoStep);
}

/// Host code knows a live batch: neither a profiling run, nor a dummy batch, nor no metadata.
[[nodiscard]] inline bool is_live(const step::minimax_m3::Metadata* metadata) {
  return metadata != nullptr && metadata->step >= 0;
}

}  // namespace graphsan::faults
