#include <optional>

#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_common_ops.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/fault_ops/fault_writes.hpp"

namespace graphsan::faults {

using step::minimax_m3::Config;
using step::minimax_m3::InsertContext;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::StepProgram;

namespace {

/// While a whole step is captured, some work of each layer goes to a side stream, as a framework's
/// auxiliary stream overlaps it; eagerly, and between breaks, all goes to one stream.
class SideStreamProgram : public StepProgram {
 public:
  SideStreamProgram(std::shared_ptr<const step::minimax_m3::InsertPath> path, Repaired repaired,
                    std::int64_t delay)
      : StepProgram{std::move(path)}, repaired_{repaired}, delay_{delay} {}

  void bind(const ProgramContext& shared, device::StreamRef) override {
    side_ = shared.device.create_stream();
    forked_ = shared.device.create_event();
    joined_ = shared.device.create_event();
  }

 protected:
  /// Runs `work(stream)` on the side, after what came before and after the delay, if any.
  template <typename Work>
  void on_side(const OpContext& context, const Work& work) {
    device::Device& device = context.shared.device;
    // Without metadata attention is a break, at which a side stream would still be open.
    aside_ = is_captured(context) && context.metadata != nullptr;
    const device::StreamRef stream = aside_ ? side_.get() : context.stream;
    if (aside_) {
      device.record(forked_.get(), context.stream);
      device.wait(stream, forked_.get());
    }
    if (delay_ > 0) launch(device, stream, BusyWait{1, delay_});
    work(stream);
    if (aside_) device.record(joined_.get(), stream);
  }
  /// Makes later work wait for the side: where it must, or where the fault has it.
  void join_where_due(const OpContext& context) {
    if (repaired_ == Repaired::kYes) join(context);
  }
  void join(const OpContext& context) {
    if (aside_) context.shared.device.wait(context.stream, joined_.get());
    aside_ = false;
  }

 private:
  Repaired repaired_;
  std::int64_t delay_;
  device::Stream side_;
  device::Event forked_;
  device::Event joined_;
  bool aside_ = false;
};

/// Index-K is written on the side, and joined only after the indexer.
class IndexKeyOnSide final : public SideStreamProgram {
 public:
  IndexKeyOnSide(const Config& config, Repaired repaired, std::int64_t delay)
      : SideStreamProgram{separate_writes(config), repaired, delay} {}

  void insert(const OpContext& context) override {
    InsertContext write = insert_context(context);
    if (write.cache.key == nullptr || write.heads.index_k == 0) return StepProgram::insert(context);
    write_main(write, write.slots, write.tokens);
    on_side(context, [&](device::StreamRef stream) {
      write.stream = stream;
      write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
    });
    join_where_due(context);
  }
  void indexer(const OpContext& context) override {
    StepProgram::indexer(context);
    join(context);
  }
};

/// K and V are written on the side, and joined only after attention.
class KeyValueOnSide final : public SideStreamProgram {
 public:
  KeyValueOnSide(const Config& config, Repaired repaired, std::int64_t delay)
      : SideStreamProgram{separate_writes(config), repaired, delay} {}

  void insert(const OpContext& context) override {
    InsertContext write = insert_context(context);
    if (write.cache.key == nullptr) return;
    write_index(write, write.slots, write.tokens, NegativeSlot::kSkip);
    on_side(context, [&](device::StreamRef stream) {
      write.stream = stream;
      write_main(write, write.slots, write.tokens);
    });
    join_where_due(context);
  }
  void attention(const OpContext& context) override {
    StepProgram::attention(context);
    join(context);
  }
};

/// The indexer runs on the side, and is joined only after attention, which reads its selection.
class IndexerOnSide final : public SideStreamProgram {
 public:
  IndexerOnSide(const Config& config, Repaired repaired, std::int64_t delay)
      : SideStreamProgram{make_insert_path(config), repaired, delay} {}

  void indexer(const OpContext& context) override {
    on_side(context, [&](device::StreamRef stream) {
      OpContext side = context;
      side.stream = stream;
      StepProgram::indexer(side);
    });
    join_where_due(context);
  }
  void attention(const OpContext& context) override {
    StepProgram::attention(context);
    join(context);
  }
};

/// Microseconds that a side stream is held up on CUDA.
constexpr std::int64_t kDelay = 500;

}  // namespace

void add_missing_dependency_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(fault_and_twin<KeyValueOnSide>(
      "missing-dependency", "key-value",
      "K and V are written on a side stream that is joined only after attention",
      "--kv-dtype fp8_e5m2 --write-path two-step --mode full", kDelay));
  faults.push_back(fault_and_twin<IndexKeyOnSide>(
      "missing-dependency", "index-key",
      "index-K is written on a side stream that is joined only after the indexer; a prefill lane "
      "looks for its block",
      "--write-path two-step --mode full --batch prefill --tokens 7 --bucket 8 --layers 5",
      kDelay));
  faults.push_back(fault_and_twin<IndexerOnSide>(
      "missing-dependency", "selection",
      "the indexer runs on a side stream that is joined only after attention",
      "--kv-dtype fp8_e4m3 --mode full --layers 3", kDelay));
  faults.push_back(fault_and_twin<IndexKeyOnSide>(
      "missing-dependency", "unharmed",
      "index-K is written on a side stream that is joined only after the indexer, in decode, where "
      "a token's own block is selected in any case: all replays agree",
      "--write-path two-step --mode full", std::int64_t{0}));
}

}  // namespace graphsan::faults
