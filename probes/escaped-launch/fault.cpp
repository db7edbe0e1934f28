#include <functional>
#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using namespace step::minimax_m3;  // NOLINT(google-build-using-namespace)

namespace {

/// Host code that gives some work to a stream of its own. It orders the streams by waiting for
/// them, which a capture forbids, so there it does not wait. Repaired, it forks and joins by
/// events, and the work becomes part of the capture.
class SideStreamProgram : public StepProgram {
 public:
  SideStreamProgram(std::shared_ptr<const InsertPath> path, Repaired repaired)
      : StepProgram{std::move(path)}, repaired_{repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    side_ = shared.device.create_stream();
    fork_ = shared.device.create_event();
    join_ = shared.device.create_event();
  }

  void after_capture(const ProgramContext& shared, device::StreamRef, int) override {
    shared.device.synchronize(side_.get());
  }

 protected:
  using Launch = std::function<void(device::StreamRef)>;

  void on_side_stream(const OpContext& context, const Launch& launch) {
    device::Device& device = context.shared.device;
    if (repaired_ == Repaired::kYes) {
      device.record(fork_.get(), context.stream);
      device.wait(side_.get(), fork_.get());
      launch(side_.get());
      device.record(join_.get(), side_.get());
      device.wait(context.stream, join_.get());
      return;
    }
    const bool capturing = device.capture_status(context.stream) != device::CaptureStatus::kNone;
    if (!capturing) device.synchronize(context.stream);
    launch(side_.get());
    if (!capturing) device.synchronize(side_.get());
  }

  static void write_on(device::StreamRef stream, const InsertContext& context,
                       const std::function<void(const InsertContext&)>& write) {
    write({.device = context.device,
           .stream = stream,
           .allocator = context.allocator,
           .layer = context.layer,
           .qkv = context.qkv,
           .row_width = context.row_width,
           .heads = context.heads,
           .tokens = context.tokens,
           .slots = context.slots,
           .metadata = context.metadata,
           .cache = context.cache,
           .index_cache = context.index_cache});
  }

 private:
  Repaired repaired_;
  device::Stream side_;
  device::Event fork_;
  device::Event join_;
};

class SideIndexKey final : public SideStreamProgram {
 public:
  SideIndexKey(const Config& config, Repaired repaired)
      : SideStreamProgram{two_step_path(config), repaired} {}

  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    write_main(made, made.slots, made.tokens);
    on_side_stream(context, [&](device::StreamRef side) {
      write_on(side, made, [](const InsertContext& there) {
        write_index(there, there.slots, there.tokens, NegativeSlot::kSkip);
      });
    });
  }
};

/// K and V of the first layer only.
class SideMain final : public SideStreamProgram {
 public:
  SideMain(const Config& config, Repaired repaired)
      : SideStreamProgram{two_step_path(config), repaired} {}

  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    if (context.layer > 0) return insert_path().insert(made);
    on_side_stream(context, [&](device::StreamRef side) {
      write_on(side, made,
               [](const InsertContext& there) { write_main(there, there.slots, there.tokens); });
    });
    write_index(made, made.slots, made.tokens, NegativeSlot::kSkip);
  }
};

/// The last layer's output is computed aside and copied to its place.
class SideOutputCopy final : public SideStreamProgram {
 public:
  SideOutputCopy(const Config& config, Repaired repaired)
      : SideStreamProgram{make_insert_path(config), repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef stream) override {
    SideStreamProgram::bind(shared, stream);
    memory_.emplace(shared.device);
    aside_ = memory_->add<std::uint16_t>(
        "output aside",
        static_cast<std::size_t>(shared.persistent.capacity) * width(shared.config));
  }

  void attention(const OpContext& context) override {
    const ProgramContext& shared = context.shared;
    const bool last = context.layer == shared.config.layers - 1;
    if (!last || context.metadata == nullptr || context.pool == nullptr) {
      return StepProgram::attention(context);
    }
    launch_attention(shared.device, context.stream,
                     attention_args(context.lanes, shared.config, shared.plan, *context.pool,
                                    context.layer, context.tokens, aside_));
    std::uint16_t* out = context.lanes.layers[static_cast<std::size_t>(context.layer)].out;
    const std::size_t bytes =
        static_cast<std::size_t>(context.tokens) * width(shared.config) * sizeof(std::uint16_t);
    on_side_stream(context,
                   [&](device::StreamRef side) { shared.device.copy(side, out, aside_, bytes); });
  }

  void describe(device::AddressMap& map) const override {
    if (memory_) memory_->describe(map);
  }

 private:
  [[nodiscard]] static std::size_t width(const Config& config) {
    return static_cast<std::size_t>(heads_for(config.tp, true).q) * kHeadDim;
  }

  std::optional<NamedBuffers> memory_;
  std::uint16_t* aside_ = nullptr;
};

}  // namespace

void add_escaped_launch_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<SideIndexKey>(
      {.id = "escaped-launch",
       .variant = "index-key",
       .description = "index-K is written on a stream that does not take part in the capture",
       .options = "--kv-dtype bf16 --write-path two-step"}));
  faults.push_back(planted<SideMain>(
      {.id = "escaped-launch",
       .variant = "first-layer",
       .description = "K and V of layer 0 are written on a stream outside the capture",
       .options = "--kv-dtype fp8_e4m3 --write-path two-step --mode full --batch prefill"}));
  faults.push_back(planted<SideOutputCopy>(
      {.id = "escaped-launch",
       .variant = "output-copy",
       .description = "the last output is copied to its place on a stream outside the capture",
       .options = "--mode full --tokens 6"}));
}

}  // namespace graphsan::faults
