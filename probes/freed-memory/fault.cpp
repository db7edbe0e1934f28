#include <memory>
#include <optional>
#include <utility>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_requests.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using namespace step::minimax_m3;  // NOLINT(google-build-using-namespace)

namespace {

/// A small table that an op reads, from the framework's general pool: a fresh one at each eager
/// launch; for a capture one that is made before it and dropped after it. Requests' own tensors of
/// the same size come with the refills. Repaired, the capture's table is kept.
class TableProgram : public StepProgram {
 public:
  TableProgram(std::shared_ptr<const InsertPath> path, Repaired repaired)
      : StepProgram{std::move(path)}, repaired_{repaired} {}

  void reset(const ProgramContext&, device::StreamRef) override { requests_.finish(); }

  void refill(const RefillContext& context) override {
    requests_.serve(context, table_bytes(context.shared), request_value());
  }

  /// No request is served while a capture is made.
  void before_capture(const ProgramContext& shared, device::StreamRef stream, int) override {
    requests_.finish();
    if (captured_) return;
    captured_.emplace(shared.allocator, table_bytes(shared));
    fill_table(shared, stream, captured_->data());
  }

  void after_capture(const ProgramContext&, device::StreamRef, int) override {
    if (repaired_ == Repaired::kNo) captured_.reset();
  }

 protected:
  [[nodiscard]] virtual std::size_t table_bytes(const ProgramContext& shared) const = 0;
  virtual void fill_table(const ProgramContext& shared, device::StreamRef stream,
                          void* table) const = 0;
  /// What a request's tensor holds.
  [[nodiscard]] virtual float request_value() const = 0;

  /// Calls `launch` with the table, which lives for the call at least.
  template <typename Launch>
  void with_table(const OpContext& context, const Launch& launch) {
    if (captured_) return launch(captured_->data());
    const device::Temporary fresh{context.shared.allocator, table_bytes(context.shared)};
    fill_table(context.shared, context.stream, fresh.data());
    launch(fresh.data());
  }

 private:
  Repaired repaired_;
  std::optional<device::Temporary> captured_;
  Requests requests_;
};

class KeyScale : public TableProgram {
 public:
  KeyScale(const Config& config, Repaired repaired)
      : TableProgram{two_step_path(config), repaired} {}

  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    const std::uint16_t* key = made.qkv + static_cast<std::ptrdiff_t>(made.heads.q) * kHeadDim;
    with_table(context, [&](const void* scale) {
      launch_reshape_and_cache(
          made.device, made.stream,
          {.key = key,
           .value = key + static_cast<std::ptrdiff_t>(made.heads.kv) * kHeadDim,
           .key_stride = made.row_width,
           .value_stride = made.row_width,
           .slots = made.slots,
           .k_scale = static_cast<const float*>(scale),
           .v_scale = nullptr,
           .cache = made.cache,
           .tokens = made.tokens,
           .scale_count = 1});
    });
    write_index(made, made.slots, made.tokens, NegativeSlot::kSkip);
  }

 protected:
  [[nodiscard]] std::size_t table_bytes(const ProgramContext&) const override {
    return sizeof(float);
  }
  void fill_table(const ProgramContext& shared, device::StreamRef stream,
                  void* table) const override {
    launch_fill_float(shared.device, stream, {static_cast<float*>(table), 1, 1.0F});
  }
  [[nodiscard]] float request_value() const override { return 2.0F; }
};

/// The same where nobody has asked for the block yet: every replay still finds the scale there.
class IdleKeyScale final : public KeyScale {
 public:
  using KeyScale::KeyScale;
  void refill(const RefillContext&) override {}
};

/// The key norm's weights of the last layer, cast.
class KeyNorm final : public TableProgram {
 public:
  KeyNorm(const Config& config, Repaired repaired)
      : TableProgram{path_named(config, WritePath::kFused), repaired} {}

  void norm_rope(const OpContext& context) override {
    if (context.layer != context.shared.config.layers - 1) return StepProgram::norm_rope(context);
    weights_ = context.weights.norm.back() + kHeadDim;
    launch_mix(context.shared.device, context.stream, mix_args(context));
    with_table(context, [&](const void* weights) {
      NormRopeArgs args = norm_rope_args(context, true);
      args.w_k = static_cast<const std::uint16_t*>(weights);
      launch_norm_rope(context.shared.device, context.stream, args);
    });
  }

 protected:
  [[nodiscard]] std::size_t table_bytes(const ProgramContext&) const override {
    return kHeadDim * sizeof(std::uint16_t);
  }
  void fill_table(const ProgramContext& shared, device::StreamRef stream,
                  void* table) const override {
    // The profiling run came first, so the weights are known before any capture.
    if (weights_ != nullptr) shared.device.copy(stream, table, weights_, table_bytes(shared));
  }
  [[nodiscard]] float request_value() const override { return 0.5F; }

 private:
  const std::uint16_t* weights_ = nullptr;
};

/// The block table as attention of the last layer reads it.
class BlockTableCopy final : public TableProgram {
 public:
  BlockTableCopy(const Config& config, Repaired repaired)
      : TableProgram{make_insert_path(config), repaired} {}

  void attention(const OpContext& context) override {
    const ProgramContext& shared = context.shared;
    const bool last = context.layer == shared.config.layers - 1;
    if (!last || context.metadata == nullptr || context.pool == nullptr) {
      return StepProgram::attention(context);
    }
    with_table(context, [&](const void* table) {
      AttentionArgs args = attention_args(
          context.lanes, shared.config, shared.plan, *context.pool, context.layer, context.tokens,
          context.lanes.layers[static_cast<std::size_t>(context.layer)].out);
      args.context.block_table = static_cast<const std::int32_t*>(table);
      launch_attention(shared.device, context.stream, args);
    });
  }

 protected:
  [[nodiscard]] std::size_t table_bytes(const ProgramContext& shared) const override {
    return shared.plan.block_table().size() * sizeof(std::int32_t);
  }
  void fill_table(const ProgramContext& shared, device::StreamRef stream,
                  void* table) const override {
    shared.device.copy(stream, table, shared.plan.block_table().data(), table_bytes(shared));
  }
  /// A float zero is page 0 as well.
  [[nodiscard]] float request_value() const override { return 0.0F; }
};

}  // namespace

void add_freed_memory_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(
      planted<KeyScale>({.id = "freed-memory",
                         .variant = "k-scale",
                         .description = "the key scale is made before capture and dropped after it",
                         .options = "--kv-dtype fp8_e5m2 --write-path two-step"}));
  faults.push_back(planted<IdleKeyScale>(
      {.id = "freed-memory",
       .variant = "idle",
       .description = "the key scale is dropped after capture and nothing has been put there yet",
       .options = "--kv-dtype fp8_e4m3 --write-path two-step"}));
  faults.push_back(planted<KeyNorm>(
      {.id = "freed-memory",
       .variant = "norm-weights",
       .description = "cast norm weights of the last layer are dropped after capture",
       .options = "--kv-dtype bf16 --write-path fused --batch prefill --tokens 6"}));
  faults.push_back(planted<BlockTableCopy>(
      {.id = "freed-memory",
       .variant = "block-table",
       .description = "the last layer's copy of the block table is dropped after capture",
       .options = "--kv-dtype fp8_e4m3 --mode full --page-size 64"}));
}

}  // namespace graphsan::faults
