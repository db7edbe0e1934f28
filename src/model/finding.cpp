#include "model/finding.hpp"

#include "model/enum_words.hpp"

namespace graphsan::model {

std::string_view to_string(FindingStatus status) {
  switch (status) {
    case FindingStatus::kConfirmed:
      return "confirmed";
    case FindingStatus::kSuspected:
      return "suspected";
  }
  throw_no_enumerator();
}

std::optional<FindingStatus> parse_finding_status(std::string_view word) {
  return parse_word(word, FindingStatus::kSuspected);
}

}  // namespace graphsan::model
