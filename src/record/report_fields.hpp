#pragma once

#include "model/run_report.hpp"

namespace graphsan::record {

template <typename Archive>
void fields(Archive& a, model::ErrorBudget& v) {
  a("dtype", v.dtype);
  a("spread", v.spread);
  a("round_trip_mean_rel", v.round_trip_mean_rel);
  a("attention_mean_rel", v.attention_mean_rel);
  a("round_trip_expected", v.round_trip_expected);
  a("normal", v.normal);
  a("histogram", v.histogram);
}

template <typename Archive>
void fields(Archive& a, model::PageSlot& v) {
  a("page", v.page);
  a("slot", v.slot);
}

template <typename Archive>
void fields(Archive& a, model::Where& v) {
  a("cache", v.cache);
  a("layer", v.layer);
  a("node", v.node);
  a("kernel", v.kernel);
  a("source", v.source);
  a("page_slots", v.rows);
}

template <typename Archive>
void fields(Archive& a, model::Finding& v) {
  a("mechanism", v.mechanism);
  a("status", v.status);
  a("summary", v.summary);
  a("first_step", v.first_step);
  a("experiment", v.experiment);
  a("sham", v.sham);
  a("not_runnable", v.not_runnable);
  a("fix", v.fix);
  a.table("finding_where", v.where);
  a.table("evidence", v.evidence);
}

template <typename Archive>
void fields(Archive& a, model::RuledOut& v) {
  a("mechanism", v.mechanism);
  a("why", v.why);
}

template <typename Archive>
void fields(Archive& a, model::ExperimentRecord& v) {
  a("name", v.name);
  a("change", v.change);
  a("outcome", v.outcome);
  a("sham_outcome", v.sham_outcome);
  a("repeats", v.repeats);
  a("made_right", v.made_right);
  a("not_runnable", v.not_runnable);
}

template <typename Archive>
void fields(Archive& a, model::CaseConfig& v) {
  a("step_under_test", v.step);
  a("kv_dtype", v.kv_dtype);
  a("write_path", v.write_path);
  a("mode", v.mode);
  a("batch", v.batch);
  a("layout", v.layout);
  a("generation", v.generation);
  a("convert", v.convert);
  a("fault", v.fault);
  a("tokens", v.tokens);
  a("bucket", v.bucket);
  a("steps", v.steps);
  a("layers", v.layers);
  a("tp", v.tp);
  a("page_size", v.page_size);
  a("context", v.context);
  a("seed", v.seed);
  a("carry", v.carry);
}

template <typename Archive>
void fields(Archive& a, model::Failure& v) {
  a("phase", v.phase);
  a("step", v.step);
  a("what", v.what);
  a("remedy", v.remedy);
}

template <typename Archive>
void fields(Archive& a, model::StepTiming& v) {
  a("eager_ms", v.eager_ms);
  a("graph_ms", v.graph_ms);
}

template <typename Archive>
void fields(Archive& a, model::CaseReport& v) {
  a("case_index", v.index);
  a("heading", v.group);
  a("title", v.title);
  a.flat("config", v.config);
  a("reproduce", v.reproduce);
  a("verdict", v.verdict);
  a("reason", v.reason);
  a("failure", v.failure);
  a.flat("timing", v.timing);
  a("seconds", v.seconds);
  a.flat("facts", v.facts);
  a.table("findings", v.findings);
  a.table("ruled_out", v.ruled_out);
  a.table("experiments", v.experiments);
  a.table("notes", v.notes);
  a.table("not_covered", v.not_covered);
}

template <typename Archive>
void fields(Archive& a, model::Capacity& v) {
  a("dtype", v.dtype);
  a("bytes_per_token", v.bytes_per_token);
  a("memory_bytes", v.memory_bytes);
  a("tokens", v.tokens);
  a("basis", v.basis);
}

template <typename Archive>
void fields(Archive& a, model::Environment& v) {
  a("device", v.device);
  a("device_name", v.device_name);
  a("driver", v.driver);
  a("cuda_runtime", v.cuda_runtime);
  a("compute_capability", v.compute_capability);
  a("conversion", v.conversion);
  a("tracing", v.tracing);
  a("operating_system", v.operating_system);
}

/// Everything of a run but its cases, which are stored one by one.
template <typename Archive>
void fields(Archive& a, model::RunReport& v) {
  a("tool_version", v.tool_version);
  a("scenario", v.scenario);
  a("command", v.command);
  a("started_at", v.started_at);
  a("verdict", v.verdict);
  a("exit_code", v.exit_code);
  a("complete", v.complete);
  a("incomplete_reason", v.incomplete_reason);
  a("seconds", v.seconds);
  a.table("error_budgets", v.error_budgets);
  a.table("capacities", v.capacities);
  a.table("limits", v.limits);
}

}  // namespace graphsan::record
