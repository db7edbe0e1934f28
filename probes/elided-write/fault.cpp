#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using namespace step::minimax_m3;  // NOLINT(google-build-using-namespace)

namespace {

class ElidedIndexKey final : public InsertPath {
 public:
  void insert(const InsertContext& context) const override {
    if (context.cache.key == nullptr) return;
    write_main(context, context.slots, context.tokens);
    if (context.metadata == nullptr) return;
    write_index(context, context.slots, context.tokens, NegativeSlot::kSkip);
  }
};

/// Where there is no metadata, K and V go to a placeholder: a cache of no rows.
class PlaceholderCache final : public StepProgram {
 public:
  PlaceholderCache(const Config& config, Repaired repaired)
      : StepProgram{two_step_path(config)}, repaired_{repaired} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    memory_.emplace(shared.device);
    placeholder_ = memory_->add<std::byte>("placeholder cache", 256);
  }

  void insert(const OpContext& context) override {
    InsertContext made = insert_context(context);
    if (repaired_ == Repaired::kNo && context.metadata == nullptr && made.cache.key != nullptr) {
      made.cache.key = placeholder_;
      made.cache.value = placeholder_;
      made.cache.slots = 0;
    }
    insert_path().insert(made);
  }

  void describe(device::AddressMap& map) const override {
    if (memory_) memory_->describe(map);
  }

 private:
  Repaired repaired_;
  std::optional<NamedBuffers> memory_;
  std::byte* placeholder_ = nullptr;
};

/// The fused op gets the index slots from the metadata, and null where there is none.
class NullIndexSlots final : public StepProgram {
 public:
  NullIndexSlots(const Config& config, Repaired repaired)
      : StepProgram{path_named(config, WritePath::kFused)}, repaired_{repaired} {}

  void norm_rope(const OpContext& context) override {
    NormRopeArgs args = norm_rope_args(context, true);
    if (repaired_ == Repaired::kNo && context.metadata == nullptr) args.index_slots = nullptr;
    launch_mix(context.shared.device, context.stream, mix_args(context));
    launch_norm_rope(context.shared.device, context.stream, args);
  }

 private:
  Repaired repaired_;
};

/// The last layer spares K and V of a dummy batch, whose rows nobody reads.
class SparedLastLayer final : public StepProgram {
 public:
  SparedLastLayer(const Config& config, Repaired repaired)
      : StepProgram{two_step_path(config)}, repaired_{repaired} {}

  void insert(const OpContext& context) override {
    const InsertContext made = insert_context(context);
    if (made.cache.key == nullptr) return;
    const bool last = context.layer == context.shared.config.layers - 1;
    if (repaired_ == Repaired::kYes || !last || is_live(context.metadata)) {
      write_main(made, made.slots, made.tokens);
    }
    write_index(made, made.slots, made.tokens, NegativeSlot::kSkip);
  }

 private:
  Repaired repaired_;
};

}  // namespace

void add_elided_write_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(
      {.id = "elided-write",
       .variant = "index-key",
       .description = "index-K is written only where there is metadata; K and V always",
       .options = "--kv-dtype fp8_e5m2 --write-path two-step",
       .program = program_with(std::make_shared<ElidedIndexKey>()),
       .clean_twin = sound_program()});
  faults.push_back(planted<PlaceholderCache>(
      {.id = "elided-write",
       .variant = "empty-cache",
       .description = "K and V are recorded on a placeholder cache of no rows",
       .options = "--kv-dtype fp8_e4m3 --write-path two-step --tokens 5"}));
  faults.push_back(planted<NullIndexSlots>(
      {.id = "elided-write",
       .variant = "null-slots",
       .description = "the fused op is recorded with null index slots",
       .options = "--kv-dtype bf16 --write-path fused --batch prefill --tokens 6"}));
  faults.push_back(planted<SparedLastLayer>(
      {.id = "elided-write",
       .variant = "last-layer",
       .description = "K and V of the last layer are not recorded for a dummy batch",
       .options = "--kv-dtype fp8_e4m3 --write-path two-step --mode full --layers 3"}));
}

}  // namespace graphsan::faults
