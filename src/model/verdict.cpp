#include "model/verdict.hpp"

#include <algorithm>

#include "model/enum_words.hpp"

namespace graphsan::model {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAgreed:
      return "agreed";
    case Verdict::kDiverged:
      return "diverged";
    case Verdict::kHazard:
      return "hazard";
    case Verdict::kInconclusive:
      return "inconclusive";
  }
  throw_no_enumerator();
}

std::optional<Verdict> parse_verdict(std::string_view word) {
  return parse_word(word, Verdict::kInconclusive);
}

int exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAgreed:
      return kExitAgreed;
    case Verdict::kDiverged:
    case Verdict::kHazard:
      return kExitDiverged;
    case Verdict::kInconclusive:
      return kExitInconclusive;
  }
  throw_no_enumerator();
}

Verdict combine(std::span<const Verdict> verdicts) {
  for (const Verdict verdict : {Verdict::kDiverged, Verdict::kHazard, Verdict::kInconclusive}) {
    if (std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end()) return verdict;
  }
  return verdicts.empty() ? Verdict::kInconclusive : Verdict::kAgreed;
}

}  // namespace graphsan::model
