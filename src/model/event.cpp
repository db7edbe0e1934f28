#include "model/event.hpp"

#include "model/enum_words.hpp"

namespace graphsan::model {

std::string_view to_string(Arm arm) {
  switch (arm) {
    case Arm::kControl:
      return "control";
    case Arm::kEager:
      return "eager";
    case Arm::kPaddedEager:
      return "padded-eager";
    case Arm::kGraph:
      return "graph";
    case Arm::kCarried:
      return "carried";
  }
  throw_no_enumerator();
}

std::optional<Arm> parse_arm(std::string_view word) { return parse_word(word, Arm::kCarried); }

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::kSetUp:
      return "set-up";
    case Phase::kProfile:
      return "profile";
    case Phase::kControl:
      return "control";
    case Phase::kEager:
      return "eager";
    case Phase::kPaddedEager:
      return "padded-eager";
    case Phase::kWarmUp:
      return "warm-up";
    case Phase::kCapture:
      return "capture";
    case Phase::kReplay:
      return "replay";
    case Phase::kCarried:
      return "carried";
    case Phase::kExperiment:
      return "experiment";
    case Phase::kReport:
      return "report";
  }
  throw_no_enumerator();
}

std::optional<Phase> parse_phase(std::string_view word) { return parse_word(word, Phase::kReport); }

}  // namespace graphsan::model
