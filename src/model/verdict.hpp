#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace graphsan::model {

/// What a case or a run says about the step. A case that ended in a tool or device failure is
/// inconclusive and carries its failure beside the verdict.
enum class Verdict : std::uint8_t { kAgreed, kDiverged, kHazard, kInconclusive };

[[nodiscard]] std::string_view to_string(Verdict verdict);
[[nodiscard]] std::optional<Verdict> parse_verdict(std::string_view word);

/// Exit codes of the program.
inline constexpr int kExitAgreed = 0;
inline constexpr int kExitDiverged = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInconclusive = 3;
inline constexpr int kExitFailed = 4;
inline constexpr int kExitNoGpu = 77;

/// 0 agreed, 1 diverged or hazard, 3 inconclusive.
[[nodiscard]] int exit_code(Verdict verdict);

/// The verdict of several cases: diverged before hazard before inconclusive before agreed;
/// inconclusive when there is no case.
[[nodiscard]] Verdict combine(std::span<const Verdict> verdicts);

}  // namespace graphsan::model
