#include "step/plugin/plugin_views.hpp"

#include <fmt/format.h>

#include <string>

#include "step/plugin/plugin_error.hpp"

namespace graphsan::step::plugin {

namespace {

std::string name_of(const char* name, const char* what) {
  if (name == nullptr || *name == '\0') {
    throw PluginFailure{fmt::format("describe(): one {} has no name", what)};
  }
  return name;
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw PluginFailure{fmt::format("`{}` {}", name, why)};
}

model::DType dtype_of(const std::string& name, std::int32_t dtype) {
  switch (static_cast<graphsan_dtype>(dtype)) {
    case GRAPHSAN_U8:
      return model::DType::kU8;
    case GRAPHSAN_I32:
      return model::DType::kI32;
    case GRAPHSAN_I64:
      return model::DType::kI64;
    case GRAPHSAN_F32:
      return model::DType::kF32;
    case GRAPHSAN_BF16:
      return model::DType::kBf16;
    case GRAPHSAN_FP8_E4M3:
      return model::DType::kFp8E4M3;
    case GRAPHSAN_FP8_E5M2:
      return model::DType::kFp8E5M2;
  }
  refuse(name, fmt::format("has dtype {}, which is no graphsan_dtype", dtype));
}

model::CacheKind kind_of(const std::string& name, std::int32_t kind) {
  switch (static_cast<graphsan_kind>(kind)) {
    case GRAPHSAN_KEY:
      return model::CacheKind::kKey;
    case GRAPHSAN_VALUE:
      return model::CacheKind::kValue;
    case GRAPHSAN_INDEX_KEY:
      return model::CacheKind::kIndexKey;
    case GRAPHSAN_SCALE:
      return model::CacheKind::kScale;
    case GRAPHSAN_TOP_K:
      return model::CacheKind::kTopK;
    case GRAPHSAN_OUTPUT:
      return model::CacheKind::kOutput;
    case GRAPHSAN_OTHER:
      return model::CacheKind::kOther;
  }
  refuse(name, fmt::format("has kind {}, which is no graphsan_kind", kind));
}

void require_memory(const std::string& name, const void* data) {
  if (data == nullptr) refuse(name, "has no memory: its data is null");
}

void require_shape(const std::string& name, const model::CacheLayout& layout) {
  if (layout.pages > 0 && layout.page_size > 0 && layout.heads > 0 && layout.dim > 0) return;
  refuse(name, fmt::format("has {} pages of {} slots, {} heads of {} elements; each must be at "
                           "least 1",
                           layout.pages, layout.page_size, layout.heads, layout.dim));
}

std::int64_t or_contiguous(std::int64_t stride, std::int64_t contiguous) {
  return stride == 0 ? contiguous : stride;
}

}  // namespace

kvcache::CacheView cache_view(const graphsan_cache& cache) {
  model::CacheLayout layout;
  layout.name = name_of(cache.name, "cache");
  layout.kind = kind_of(layout.name, cache.kind);
  if (layout.kind == model::CacheKind::kTopK || layout.kind == model::CacheKind::kOutput) {
    refuse(layout.name, "is an output; outputs() declares those");
  }
  layout.layer = cache.layer;
  layout.dtype = dtype_of(layout.name, cache.dtype);
  layout.pages = cache.pages;
  layout.page_size = cache.page_size;
  layout.heads = cache.heads;
  layout.dim = cache.dim;
  require_shape(layout.name, layout);
  layout.head_stride = or_contiguous(cache.head_stride, layout.run_bytes());
  layout.slot_stride = or_contiguous(cache.slot_stride, layout.heads * layout.head_stride);
  layout.page_stride = or_contiguous(cache.page_stride, layout.page_size * layout.slot_stride);
  for (std::int32_t i = 0; i < cache.sink_count; ++i) {
    const graphsan_rows& rows = cache.sinks[i];
    if (rows.first < 0 || rows.last > layout.rows() || rows.first >= rows.last) {
      refuse(layout.name, fmt::format("has sink rows [{}, {}), and rows [0, {})", rows.first,
                                      rows.last, layout.rows()));
    }
    layout.sinks.push_back({rows.first, rows.last});
  }
  require_memory(layout.name, cache.data);
  return {std::move(layout), cache.data};
}

OutputView output_view(const graphsan_output& output, std::int64_t lanes) {
  model::CacheLayout layout;
  layout.name = name_of(output.name, "output");
  layout.kind = kind_of(layout.name, output.kind);
  if (layout.kind != model::CacheKind::kTopK && layout.kind != model::CacheKind::kOutput) {
    refuse(layout.name, "is neither GRAPHSAN_OUTPUT nor GRAPHSAN_TOP_K");
  }
  layout.layer = output.layer;
  layout.dtype = dtype_of(layout.name, output.dtype);
  if (layout.kind == model::CacheKind::kTopK && layout.dtype != model::DType::kI32) {
    refuse(layout.name, "holds block ids, which are GRAPHSAN_I32");
  }
  layout.pages = 1;
  layout.page_size = lanes;
  layout.heads = output.heads;
  layout.dim = output.dim;
  require_shape(layout.name, layout);
  layout.head_stride = or_contiguous(output.head_stride, layout.run_bytes());
  layout.slot_stride = or_contiguous(output.lane_stride, layout.heads * layout.head_stride);
  layout.page_stride = lanes * layout.slot_stride;
  require_memory(layout.name, output.data);
  return {{std::move(layout), output.data}};
}

InputView input_view(const graphsan_input& input, std::int64_t lanes) {
  InputView view;
  view.name = name_of(input.name, "input");
  require_memory(view.name, input.data);
  if (input.lane_bytes <= 0) refuse(view.name, "has lanes of no bytes");
  view.address = input.data;
  view.lane_bytes = input.lane_bytes;
  view.lane_stride = or_contiguous(input.lane_stride, input.lane_bytes);
  view.lanes = lanes;
  view.dtype = dtype_of(view.name, input.dtype);
  view.is_activation = input.is_activation != 0;
  view.pad_value = input.pad_value;
  return view;
}

OpaqueView opaque_view(const graphsan_state& state) {
  OpaqueView view{name_of(state.name, "state"), state.data, state.bytes};
  require_memory(view.name, view.address);
  if (view.bytes <= 0) refuse(view.name, "has no bytes");
  return view;
}

model::StepFacts step_facts(const graphsan_batch& batch, int step) {
  if (batch.tokens < 1 || batch.bucket < batch.tokens || batch.slots == nullptr) {
    throw PluginFailure{fmt::format(
        "batch() of step {}: {} tokens in a bucket of {}{}; tokens must be at least 1, the bucket "
        "no smaller, and slots not null",
        step, batch.tokens, batch.bucket, batch.slots == nullptr ? ", no slots" : "")};
  }
  model::StepFacts facts;
  facts.step = step;
  facts.batch = batch.kind == nullptr ? "decode" : batch.kind;
  facts.tokens = batch.tokens;
  facts.bucket = batch.bucket;
  facts.covered = batch.eager_reason == nullptr;
  if (!facts.covered) facts.uncovered_reason = batch.eager_reason;
  for (std::int32_t lane = 0; lane < batch.bucket; ++lane) {
    if (lane >= batch.tokens) {
      facts.lanes.emplace_back();
      continue;
    }
    facts.lanes.push_back(
        {.real = true,
         .sequence = batch.sequences == nullptr ? lane : batch.sequences[lane],
         .position = batch.positions == nullptr ? -1 : batch.positions[lane],
         .slot = batch.slots[lane],
         .index_slot = batch.index_slots == nullptr ? batch.slots[lane] : batch.index_slots[lane]});
  }
  return facts;
}

std::int64_t extent(const model::CacheLayout& layout) {
  return layout.run_offset(layout.rows() - 1, layout.heads - 1) + layout.run_bytes();
}

}  // namespace graphsan::step::plugin
