#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/probe.hpp"
#include "model/facts.hpp"

namespace graphsan::probes {

/// What differs at first hand: rows of the local pass, and selections and outputs that no earlier
/// difference of their step explains. Ordered by step, then rows, selections, outputs.
[[nodiscard]] std::vector<diagnose::RowKey> primary_differences(const model::Facts& facts);

/// Values of the local pass that earlier differences explain: what a second fault does may hide
/// among them. Ordered as primary_differences().
[[nodiscard]] std::vector<diagnose::RowKey> consequent_values(const model::Facts& facts);

/// The row difference behind a key of kind kRow; null for others.
[[nodiscard]] const model::RowDifference* row_of(const model::Facts& facts,
                                                 const diagnose::RowKey& key);

/// Layer that a difference lies in.
[[nodiscard]] int layer_of(const model::Facts& facts, const diagnose::RowKey& key);

/// Layer in a label such as `layer 1 / insert`; -1 where there is none.
[[nodiscard]] int layer_of(std::string_view source);

/// Keeps the differences in one of `layers`; all where -1 is among them.
[[nodiscard]] std::vector<diagnose::RowKey> in_layers(const model::Facts& facts,
                                                      std::vector<diagnose::RowKey> keys,
                                                      const std::set<int>& layers);

/// `12 rows of key and value, 3 outputs`.
[[nodiscard]] std::string differences_text(const model::Facts& facts,
                                           const std::vector<diagnose::RowKey>& keys);

/// A suspicion of `mechanism` over these differences, with `where`, first step, and one sentence of
/// evidence that counts them and says `how` they differ.
[[nodiscard]] diagnose::Suspicion suspect(const model::Facts& facts, const char* mechanism,
                                          std::vector<diagnose::RowKey> keys,
                                          std::string_view how = "at first hand");

/// Adds an experiment to a suspicion.
void confirm_by(diagnose::Suspicion& suspicion, diagnose::Change change,
                std::vector<std::string> names = {}, std::vector<diagnose::NodeOf> nodes = {});

/// Names node, kernel and source in every place of the finding that lies in the node's layer.
void point_to(model::Finding& finding, const model::Work& node);

/// The node that an alignment line names; null where it names none.
[[nodiscard]] const model::Work* node_of(const model::Facts& facts, const model::Alignment& line);

/// A use of memory by a node, with the same operand of the eager launch that corresponds to it.
struct NodeUse {
  diagnose::NodeOf place;
  const model::Work* node = nullptr;
  const model::AddressUse* use = nullptr;
  const model::AddressUse* launched = nullptr;  ///< null where no launch corresponds
};

/// Every address of every node, in order, beside the padded-eager launches.
[[nodiscard]] std::vector<NodeUse> node_uses(const model::Facts& facts);

/// Nodes' uses of memory that was freed, or went to somebody else, since the graph was captured.
[[nodiscard]] std::vector<NodeUse> lost_uses(const model::Facts& facts);
/// `node 3 k (layer 0 / insert) names 0x.. as field: ...`.
[[nodiscard]] std::string lost_text(const NodeUse& use);

/// Anything at all differs in rows, selections (ties apart) or outputs.
[[nodiscard]] bool differs(const model::Facts& facts);

/// Work whose node and padded-eager launch differ in words that are no pointers: nodes, and the
/// names of the fields (`grid` where the grid does; `destination` or `source` of copies that name
/// another place in the same buffer).
struct FrozenWords {
  std::vector<diagnose::NodeOf> nodes;
  std::vector<std::string> fields;  ///< each once
  std::set<int> layers;             ///< of the nodes; -1 where a label names none
  bool scalars = true;              ///< all are scalars of kernels or grids
  bool seeds = true;                ///< all are scalars that look like seeds, on both sides
  std::vector<std::string> evidence;
  const model::Work* first = nullptr;
};
[[nodiscard]] FrozenWords frozen_words(const model::Facts& facts);

/// What the padded-eager arm launched is known with its arguments: a tracer alone sees names and
/// grids, and can clear nothing that arguments show.
[[nodiscard]] bool knows_arguments(const model::Facts& facts);

/// The node or launch may write the buffer, as far as its arguments say.
[[nodiscard]] bool writes_buffer(const model::Work& work, std::string_view buffer);

/// The work may write through this operand.
[[nodiscard]] bool is_written(const model::Work& work, const model::AddressUse& use);

/// The bytes of a stray row are a pad lane's.
[[nodiscard]] bool is_pad_stray(const model::RowDifference& row);

}  // namespace graphsan::probes
