#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// Rows of the right place whose values are off by one factor, or are another dtype's bytes.
std::vector<RowKey> scaled_rows(const Facts& facts) {
  std::vector<RowKey> keys = primary_differences(facts);
  std::erase_if(keys, [&](const RowKey& key) {
    const model::RowDifference* row = row_of(facts, key);
    return row == nullptr || row->row_class != model::RowClass::kWrongValue ||
           (row->value.kind != model::ValueKind::kConstantRatio &&
            row->value.kind != model::ValueKind::kOtherDtype);
  });
  return keys;
}

std::string fix_text() {
  return "Keep scales in device buffers that both paths read and that are calibrated before "
         "capture; choose the dtype where graph and eager share the choice.";
}

/// How the live scale or dtype can be given to the graph: state, an input, or a word of a node.
void add_experiment(const Facts& facts, Suspicion& suspicion) {
  std::vector<std::string> names;
  for (const model::OpaqueFacts& state : facts.opaque) {
    if (state.differs_from_eager) names.push_back(state.name);
  }
  if (!names.empty()) {
    suspicion.finding.evidence.push_back(
        fmt::format("before the replay, {} does not hold what it holds in eager", names.front()));
    return confirm_by(suspicion, diagnose::Change::kOpaqueFromEager, names);
  }
  for (const model::InputFacts& input : facts.inputs) {
    if (!input.contents_equal_eager) names.push_back(input.name);
  }
  if (!names.empty()) {
    suspicion.finding.evidence.push_back(
        fmt::format("{} does not hold what eager's holds", names.front()));
    return confirm_by(suspicion, diagnose::Change::kRefreshInputs, names);
  }
  const FrozenWords words = frozen_words(facts);
  if (!words.nodes.empty()) {
    suspicion.finding.evidence.insert(suspicion.finding.evidence.end(), words.evidence.begin(),
                                      words.evidence.end());
    point_to(suspicion.finding, *words.first);
    return confirm_by(suspicion, diagnose::Change::kPatchScalars, words.fields, words.nodes);
  }
  confirm_by(suspicion, diagnose::Change::kLiveCapture);
}

/// Rows are right, but state that eager changes and no replay does enters the results.
std::vector<Suspicion> scale_on_reading(const Facts& facts) {
  std::vector<std::string> names;
  for (const model::OpaqueFacts& state : facts.opaque) {
    if (state.differs_from_eager && !state.differs_from_start) names.push_back(state.name);
  }
  std::vector<RowKey> keys = primary_differences(facts);
  std::erase_if(keys, [](const RowKey& key) { return key.kind == diagnose::SpotKind::kRow; });
  if (names.empty() || keys.empty()) return {};
  Suspicion suspicion = suspect(facts, "wrong-scale", std::move(keys));
  suspicion.finding.summary = fmt::format(
      "{} is updated in eager and not by the graph, and results depend on it", names.front());
  suspicion.finding.evidence.push_back(fmt::format(
      "before the replay, {} still holds what it held before the first one; eager's differs",
      names.front()));
  suspicion.finding.fix = fix_text();
  confirm_by(suspicion, diagnose::Change::kOpaqueFromEager, names);
  return {std::move(suspicion)};
}

bool says_scale(const std::string& field) { return field.find("scale") != std::string::npos; }

/// A node whose own scale operand is not the live one.
std::vector<Suspicion> scale_of_a_node(const Facts& facts) {
  const FrozenWords words = frozen_words(facts);
  std::vector<std::string> fields;
  std::copy_if(words.fields.begin(), words.fields.end(), std::back_inserter(fields), says_scale);
  std::vector<RowKey> keys = in_layers(facts, primary_differences(facts), words.layers);
  if (fields.empty() || keys.empty()) return scale_on_reading(facts);
  Suspicion suspicion = suspect(facts, "wrong-scale", std::move(keys));
  suspicion.finding.summary = fmt::format(
      "{} of {} is not what eager passes: the graph was captured with another scale, or none",
      fields.front(), words.first->name);
  suspicion.finding.evidence.insert(suspicion.finding.evidence.end(), words.evidence.begin(),
                                    words.evidence.end());
  point_to(suspicion.finding, *words.first);
  suspicion.finding.fix = fix_text();
  confirm_by(suspicion, diagnose::Change::kPatchScalars, fields, words.nodes);
  return {std::move(suspicion)};
}

/// The factor is another one in other steps, and a word that nobody calls a scale is the capture's:
/// that word is what is wrong, whatever it means.
bool is_frozen_factor(const Facts& facts, const std::vector<RowKey>& keys) {
  const bool other_cause =
      std::any_of(facts.opaque.begin(), facts.opaque.end(),
                  [](const model::OpaqueFacts& state) { return state.differs_from_eager; }) ||
      std::any_of(facts.inputs.begin(), facts.inputs.end(),
                  [](const model::InputFacts& input) { return !input.contents_equal_eager; });
  const FrozenWords words = frozen_words(facts);
  if (other_cause || words.nodes.empty() ||
      in_layers(facts, keys, words.layers).size() != keys.size() ||
      std::any_of(words.fields.begin(), words.fields.end(), says_scale)) {
    return false;
  }
  constexpr double kSame = 0.02;  // of a ratio, as rounding to a coarse dtype leaves it
  const double first = row_of(facts, keys.front())->value.ratio;
  return std::any_of(keys.begin(), keys.end(), [&](const RowKey& key) {
    return std::abs(row_of(facts, key)->value.ratio - first) > kSame * std::abs(first);
  });
}

/// Right rows with a constant ratio, or bytes of another dtype: the scale or dtype is the
/// capture's.
class WrongScaleProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    std::vector<RowKey> keys = scaled_rows(facts);
    if (keys.empty()) return scale_of_a_node(facts);
    if (is_frozen_factor(facts, keys)) return {};
    const model::RowDifference& first = *row_of(facts, keys.front());
    Suspicion suspicion = suspect(facts, "wrong-scale", std::move(keys));
    if (first.value.kind == model::ValueKind::kConstantRatio) {
      suspicion.finding.summary = fmt::format(
          "the graph writes the right rows with another scale: {:.4g} times eager's values",
          first.value.ratio);
    } else {
      suspicion.finding.summary =
          "the graph writes the right values as another fp8 dtype than eager";
    }
    suspicion.finding.evidence.push_back(
        fmt::format("in {} of {} rows that differ at first hand, the graph's values are eager's {}",
                    suspicion.rows.size(), primary_differences(facts).size(),
                    first.value.kind == model::ValueKind::kConstantRatio
                        ? fmt::format("times {:.4g}", first.value.ratio)
                        : std::string{"read as another dtype"}));
    add_experiment(facts, suspicion);
    suspicion.finding.fix = fix_text();
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    for (const model::RowDifference& row : facts.rows) {
      if (row.value.kind == model::ValueKind::kConstantRatio ||
          row.value.kind == model::ValueKind::kOtherDtype) {
        return std::nullopt;
      }
    }
    return "no row is eager's times one factor, or eager's values as another dtype";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_wrong_scale_probe() {
  return std::make_unique<WrongScaleProbe>();
}

}  // namespace graphsan::probes
