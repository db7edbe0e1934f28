#include "step/minimax_m3/insert_path.hpp"

#include <stdexcept>

#include "step/minimax_m3/ops.hpp"

namespace graphsan::step::minimax_m3 {

void write_main(const InsertContext& context, const std::int64_t* slots, std::int32_t tokens) {
  // A fresh tensor of ones as scale, as the bodies of the seed make it.
  const device::Temporary scale{context.allocator, sizeof(float)};
  launch_fill_float(context.device, context.stream, {scale.as<float>(), 1, 1.0F});
  const std::int64_t k_offset = static_cast<std::int64_t>(context.heads.q) * kHeadDim;
  const std::int64_t v_offset = k_offset + static_cast<std::int64_t>(context.heads.kv) * kHeadDim;
  launch_reshape_and_cache(context.device, context.stream,
                           {.key = context.qkv + k_offset,
                            .value = context.qkv + v_offset,
                            .key_stride = context.row_width,
                            .value_stride = context.row_width,
                            .slots = slots,
                            .k_scale = scale.as<float>(),
                            .v_scale = scale.as<float>(),
                            .cache = context.cache,
                            .tokens = tokens,
                            .scale_count = 1});
}

void write_index(const InsertContext& context, const std::int64_t* slots, std::int32_t tokens,
                 NegativeSlot negative) {
  if (context.heads.index_k == 0) return;
  const device::Temporary packed{
      context.allocator, static_cast<std::size_t>(tokens) * kHeadDim * sizeof(std::uint16_t)};
  launch_contiguous(context.device, context.stream,
                    {.source = context.qkv + (context.row_width - kHeadDim),
                     .source_stride = context.row_width,
                     .destination = packed.as<std::uint16_t>(),
                     .tokens = tokens,
                     .width = kHeadDim});
  launch_index_key_write(context.device, context.stream,
                         {.index_k = packed.as<std::uint16_t>(),
                          .stride = kHeadDim,
                          .slots = slots,
                          .cache = context.index_cache,
                          .tokens = tokens,
                          .negative = negative});
}

namespace {

class FusedPath final : public InsertPath {
 public:
  [[nodiscard]] bool writes_in_norm_rope() const override { return true; }
  void insert(const InsertContext&) const override {
    throw std::logic_error{"the fused op writes the caches itself"};
  }
};

/// The fixed path: explicit slots, negative ones skipped in both writes.
class TwoStepPath final : public InsertPath {
 public:
  void insert(const InsertContext& context) const override {
    if (context.cache.key == nullptr) return;
    write_main(context, context.slots, context.tokens);
    write_index(context, context.slots, context.tokens, NegativeSlot::kSkip);
  }
};

/// Body A: slots from the metadata; returns silently where there is none.
class InsertKvA final : public InsertPath {
 public:
  void insert(const InsertContext& context) const override {
    if (context.metadata == nullptr || context.cache.key == nullptr) return;
    write_main(context, context.metadata->slots, context.metadata->length);
    write_index(context, context.metadata->slots, context.metadata->length, NegativeSlot::kWrap);
  }
};

/// Body B: explicit slots; index-K by advanced indexing, where -1 is the last row.
class InsertKvB final : public InsertPath {
 public:
  void insert(const InsertContext& context) const override {
    if (context.cache.key == nullptr) return;
    write_main(context, context.slots, context.tokens);
    write_index(context, context.slots, context.tokens, NegativeSlot::kWrap);
  }
};

}  // namespace

std::shared_ptr<const InsertPath> make_insert_path(const Config& config) {
  const bool bf16 = config.kv_dtype == model::DType::kBf16;
  switch (config.write_path) {
    case WritePath::kFused:
      return std::make_shared<FusedPath>();
    case WritePath::kTwoStep:
      return std::make_shared<TwoStepPath>();
    case WritePath::kInsertKvA:
      if (bf16) return std::make_shared<FusedPath>();
      return std::make_shared<InsertKvA>();
    case WritePath::kInsertKvB:
      if (bf16) return std::make_shared<FusedPath>();
      return std::make_shared<InsertKvB>();
  }
  throw std::logic_error{"unknown write path"};
}

}  // namespace graphsan::step::minimax_m3
