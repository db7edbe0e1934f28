#include <fmt/format.h>

#include <algorithm>

#include "probes/differences.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

namespace {

using diagnose::RowKey;
using diagnose::Suspicion;
using model::Facts;

/// Index inputs whose pad entries nobody set. Entries that an earlier batch left count where no pad
/// lane's row strays: with strays they are the slots of pad lanes that write, which is another
/// fault.
std::vector<const model::InputFacts*> garbage_tails(const Facts& facts) {
  const bool strays = std::any_of(facts.rows.begin(), facts.rows.end(), is_pad_stray);
  std::vector<const model::InputFacts*> inputs;
  for (const model::InputFacts& input : facts.inputs) {
    const int earlier = strays ? input.pads_from_earlier : 0;
    if (input.pads_unset > earlier) inputs.push_back(&input);
  }
  return inputs;
}

/// Index entries of pad lanes that nobody set are used as indices or lengths.
class PaddingMetadataProbe final : public diagnose::Probe {
 public:
  [[nodiscard]] std::vector<Suspicion> recognise(const Facts& facts) const override {
    const std::vector<const model::InputFacts*> inputs = garbage_tails(facts);
    std::vector<RowKey> keys = primary_differences(facts);
    if (inputs.empty() || keys.empty()) return {};
    std::vector<std::string> names;
    for (const model::InputFacts* input : inputs) names.push_back(input->name);
    Suspicion suspicion = suspect(facts, "padding-metadata", std::move(keys));
    suspicion.finding.summary =
        fmt::format("entries of {} beyond the real lanes were never set and are used all the same",
                    names.front());
    for (const model::InputFacts* input : inputs) {
      suspicion.finding.evidence.push_back(fmt::format(
          "{} of {} pad lanes' entries of {} are not neutral; {} of them are an earlier batch's",
          input->pads_unset, input->pad_lanes, input->name, input->pads_from_earlier));
    }
    suspicion.finding.fix =
        "Fill the tails of slot, length and index buffers with neutral values (-1, 0) before each "
        "replay, and take counts from the real batch, not from the padded rows.";
    confirm_by(suspicion, diagnose::Change::kNeutralPadMetadata, names);
    return {std::move(suspicion)};
  }

  [[nodiscard]] std::optional<std::string> rule_out(const Facts& facts) const override {
    if (facts.inputs.empty() || !garbage_tails(facts).empty()) return std::nullopt;
    return "the pad lanes' entries of every index input are neutral, or an earlier batch's";
  }
};

}  // namespace

std::unique_ptr<diagnose::Probe> make_padding_metadata_probe() {
  return std::make_unique<PaddingMetadataProbe>();
}

}  // namespace graphsan::probes
