#pragma once

#include "model/facts.hpp"

namespace graphsan::record {

template <typename Archive>
void fields(Archive& a, model::RowRange& v) {
  a("begin", v.begin);
  a("end", v.end);
}

template <typename Archive>
void fields(Archive& a, model::CacheLayout& v) {
  a("name", v.name);
  a("kind", v.kind);
  a("layer", v.layer);
  a("dtype", v.dtype);
  a("pages", v.pages);
  a("page_size", v.page_size);
  a("heads", v.heads);
  a("dim", v.dim);
  a("page_stride", v.page_stride);
  a("slot_stride", v.slot_stride);
  a("head_stride", v.head_stride);
  a("sinks", v.sinks);
}

template <typename Archive>
void fields(Archive& a, model::LogicalRow& v) {
  a("sequence", v.sequence);
  a("position", v.position);
  a("layer", v.layer);
  a("kind", v.kind);
}

template <typename Archive>
void fields(Archive& a, model::Lane& v) {
  a("real", v.real);
  a("sequence", v.sequence);
  a("position", v.position);
  a("slot", v.slot);
  a("index_slot", v.index_slot);
}

template <typename Archive>
void fields(Archive& a, model::StepFacts& v) {
  a("step", v.step);
  a("batch", v.batch);
  a("tokens", v.tokens);
  a("bucket", v.bucket);
  a("covered", v.covered);
  a("uncovered_reason", v.uncovered_reason);
  a("input_digest", v.input_digest);
  a("replayed_nodes", v.replayed_nodes);
  a("nonce_overwritten", v.nonce_overwritten);
  a.table("lanes", v.lanes);
}

template <typename Archive>
void fields(Archive& a, model::WriteSets& v) {
  a("step", v.step);
  a("cache", v.cache);
  a("expected", v.expected);
  a("eager", v.eager);
  a("padded_eager", v.padded_eager);
  a("graph", v.graph);
  a("sink_writes", v.sink_writes);
}

template <typename Archive>
void fields(Archive& a, model::Origin& v) {
  a("kind", v.kind);
  a("row", v.row);
  a("step", v.step);
  a("lane", v.lane);
  a("also", v.also);
}

template <typename Archive>
void fields(Archive& a, model::ValueDifference& v) {
  a("kind", v.kind);
  a("ratio", v.ratio);
  a("max_code_distance", v.max_code_distance);
  a("elements", v.elements);
}

template <typename Archive>
void fields(Archive& a, model::RowDifference& v) {
  a("step", v.step);
  a("cache", v.cache);
  a("row", v.row);
  a("class", v.row_class);
  a("origin", v.origin);
  a("places", v.places);
  a("owner", v.owner);
  a("lane", v.lane);
  a("padded_eager_shows_it", v.padded_eager_shows_it);
  a("eager_digest", v.eager);
  a("graph_digest", v.graph);
  a("value", v.value);
  a("eager_bytes", v.eager_bytes);
  a("graph_bytes", v.graph_bytes);
}

template <typename Archive>
void fields(Archive& a, model::TopKDifference& v) {
  a("step", v.step);
  a("layer", v.layer);
  a("lane", v.lane);
  a("head", v.head);
  a("carried", v.carried);
  a("kind", v.kind);
  a("eager_ids", v.eager_ids);
  a("graph_ids", v.graph_ids);
  a("only_eager", v.only_eager);
  a("only_graph", v.only_graph);
  a("eager_scores", v.eager_scores);
  a("graph_scores", v.graph_scores);
  a("margin", v.margin);
  a("reproduced_from_graph_cache", v.reproduced_from_graph_cache);
  a("padded_eager_shows_it", v.padded_eager_shows_it);
}

template <typename Archive>
void fields(Archive& a, model::OutputDifference& v) {
  a("step", v.step);
  a("layer", v.layer);
  a("lane", v.lane);
  a("carried", v.carried);
  a("max_abs", v.max_abs);
  a("mean_rel", v.mean_rel);
  a("max_code_distance", v.max_code_distance);
  a("non_finite", v.non_finite);
  a("reproduced_from_graph_cache", v.reproduced_from_graph_cache);
  a("padded_eager_shows_it", v.padded_eager_shows_it);
}

template <typename Archive>
void fields(Archive& a, model::ChainLink& v) {
  a("stage", v.stage);
  a("broken", v.broken);
  a("first", v.first);
  a("step", v.step);
  a("layer", v.layer);
  a("detail", v.detail);
}

template <typename Archive>
void fields(Archive& a, model::CaptureChange& v) {
  a("cache", v.cache);
  a("rows", v.rows);
  a("overwritten_by_history", v.overwritten_by_history);
  a("note", v.note);
}

template <typename Archive>
void fields(Archive& a, model::Stability& v) {
  a("ran", v.ran);
  a("stable", v.stable);
  a("rows_differing", v.rows_differing);
  a("max_noise", v.max_noise);
  a("unstable_caches", v.unstable_caches);
}

template <typename Archive>
void fields(Archive& a, model::InputFacts& v) {
  a("name", v.name);
  a("captured_address", v.captured_address);
  a("replay_address", v.replay_address);
  a("contents_equal_eager", v.contents_equal_eager);
  a("is_activation", v.is_activation);
  a("contents_of_step", v.contents_of_step);
  a("submitted_differs", v.submitted_differs);
  a("pad_lanes", v.pad_lanes);
  a("pads_unset", v.pads_unset);
  a("pads_from_earlier", v.pads_from_earlier);
}

template <typename Archive>
void fields(Archive& a, model::OpaqueFacts& v) {
  a("name", v.name);
  a("bytes", v.bytes);
  a("differs_from_start", v.differs_from_start);
  a("differs_from_eager", v.differs_from_eager);
}

template <typename Archive>
void fields(Archive& a, model::OtherGraph& v) {
  a("nodes", v.nodes);
  a("same_structure", v.same_structure);
  a("kernels", v.kernels);
}

template <typename Archive>
void fields(Archive& a, model::UnorderedPair& v) {
  a("segment", v.segment);
  a("first", v.first);
  a("second", v.second);
  a("buffer", v.buffer);
  a("declared", v.declared);
}

template <typename Archive>
void fields(Archive& a, model::ReferenceDifference& v) {
  a("step", v.step);
  a("cache", v.cache);
  a("layer", v.layer);
  a("lane", v.lane);
  a("row", v.row);
  a("value", v.value);
}

template <typename Archive>
void fields(Archive& a, model::Facts& v) {
  a("capture_metadata", v.capture_metadata);
  a("padded_eager_ran", v.padded_eager_ran);
  a("padded_launches_captured", v.padded_launches_captured);
  a("reference_ran", v.reference_ran);
  a("rows_compared", v.rows_compared);
  a("rows_left_out", v.rows_left_out);
  a("rows_dropped", v.rows_dropped);
  a("replays", v.replays);
  a("nodes", v.nodes);
  a("stability", v.stability);
  a.table("caches", v.caches);
  a.table("cache_buffers", v.cache_buffers);
  a.table("steps", v.steps);
  a.table("write_sets", v.writes);
  a.table("rows", v.rows);
  a.table("top_k", v.top_k);
  a.table("outputs", v.outputs);
  a.table("chain", v.chain);
  a.table("capture_changes", v.capture_changes);
  a.table("graphs", v.segments);
  a.table("launches", v.eager_launches);
  a.table("alignment", v.alignment);
  a.table("padded_launches", v.padded_launches);
  a.table("padded_alignment", v.padded_alignment);
  a.table("escaped", v.escaped);
  a.table("inputs", v.inputs);
  a.table("opaque", v.opaque);
  a.table("other_graphs", v.other_graphs);
  a.table("unordered_pairs", v.unordered);
  a.table("reference_differences", v.reference);
}

}  // namespace graphsan::record
