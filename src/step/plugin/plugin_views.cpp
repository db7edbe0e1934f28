#include "step/plugin/plugin_views.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>

#include "step/plugin/cache_extent.hpp"
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

// In the order of graphsan_dtype and graphsan_kind.
constexpr std::array kDTypes{model::DType::kU8,     model::DType::kI32,  model::DType::kI64,
                             model::DType::kF32,    model::DType::kBf16, model::DType::kFp8E4M3,
                             model::DType::kFp8E5M2};
static_assert(kDTypes.size() == GRAPHSAN_FP8_E5M2 + 1);
constexpr std::array kKinds{model::CacheKind::kKey,      model::CacheKind::kValue,
                            model::CacheKind::kIndexKey, model::CacheKind::kScale,
                            model::CacheKind::kTopK,     model::CacheKind::kOutput,
                            model::CacheKind::kOther};
static_assert(kKinds.size() == GRAPHSAN_OTHER + 1);

/// The word of ours behind a number of the ABI.
template <typename Word, std::size_t kCount>
Word word_of(const std::array<Word, kCount>& words, std::int32_t number, const std::string& name,
             const char* what) {
  if (number >= 0 && static_cast<std::size_t>(number) < kCount) {
    return words[static_cast<std::size_t>(number)];
  }
  refuse(name, fmt::format("has {} {}, which is no graphsan_{}", what, number, what));
}

model::DType dtype_of(const std::string& name, std::int32_t dtype) {
  return word_of(kDTypes, dtype, name, "dtype");
}

model::CacheKind kind_of(const std::string& name, std::int32_t kind) {
  return word_of(kKinds, kind, name, "kind");
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

/// Rows may interleave with other buffers', not with one another.
void require_strides(const std::string& name, const model::CacheLayout& layout) {
  if (runs_lie_apart(layout)) return;
  refuse(name, fmt::format("has strides of {}, {} and {} bytes (page, slot, head), with which rows "
                           "overlap: {} pages of {} slots, {} heads of {} bytes",
                           layout.page_stride, layout.slot_stride, layout.head_stride, layout.pages,
                           layout.page_size, layout.heads, layout.run_bytes()));
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
  require_strides(layout.name, layout);
  if (cache.sink_count > 0 && cache.sinks == nullptr) {
    refuse(layout.name, fmt::format("has {} sinks, and sinks is null", cache.sink_count));
  }
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
  require_strides(layout.name, layout);
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
  if (view.lane_stride < view.lane_bytes) refuse(view.name, "has lanes that overlap");
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

void require_rows(const model::StepFacts& batch, const std::vector<kvcache::CacheView>& caches) {
  for (const kvcache::CacheView& view : caches) {
    const model::CacheLayout& layout = view.layout;
    if (layout.kind == model::CacheKind::kGuard) continue;
    for (std::size_t lane = 0; lane < batch.lanes.size(); ++lane) {
      const std::int64_t slot = layout.kind == model::CacheKind::kIndexKey
                                    ? batch.lanes[lane].index_slot
                                    : batch.lanes[lane].slot;
      if (slot < layout.rows()) continue;
      throw PluginFailure{
          fmt::format("batch() of step {}: lane {} must write row {}, and `{}` has "
                      "rows 0 to {}",
                      batch.step, lane, slot, layout.name, layout.rows() - 1)};
    }
  }
}

}  // namespace graphsan::step::plugin
