#pragma once

#include "model/run_report.hpp"

namespace graphsan::test {

/// The seed's matrix as a run on the host device would report it: bodies A and B with their faults,
/// the clean paths, a case that failed, error budgets and capacities.
[[nodiscard]] model::RunReport seed_run();

/// Clean cases only, on a CUDA device.
[[nodiscard]] model::RunReport agreed_run();

/// The seed's run as it stands after an interruption.
[[nodiscard]] model::RunReport interrupted_run();

/// Markup, quotes and script end tags in every kind of name that a program under test chooses.
[[nodiscard]] model::RunReport hostile_run();

/// One diverged case whose every row of a pool of `rows` rows differs.
[[nodiscard]] model::RunReport large_run(std::int64_t rows);

/// Text that must only ever be shown as text.
inline constexpr const char* kHostileText =
    R"text(</script><img src=x onerror="alert(1)">&amp;'"`)text";

}  // namespace graphsan::test
