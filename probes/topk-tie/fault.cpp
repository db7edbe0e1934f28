#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/topk-tie/fault_ops.hpp"

namespace graphsan::faults {

using step::minimax_m3::Config;
using step::minimax_m3::is_sparse_layer;
using step::minimax_m3::kBlockSize;
using step::minimax_m3::kHeadDim;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::StepProgram;

namespace {

/// When the other top-k kernel is taken, of which the later block wins a tie.
enum class OtherKernel : std::uint8_t { kNever, kInCapture, kForFullBuckets };

/// In the history every run of four blocks has the content of its last, as repeated prompts have:
/// their scores tie, and the selection ends within such a run. Which of them is selected changes
/// nothing else, since K and V are the same and ids stay in order. Repaired: one kernel for all.
class TiedBlocks final : public StepProgram {
 public:
  TiedBlocks(const Config& config, Repaired repaired, OtherKernel other, bool last_layer_only)
      : StepProgram{make_insert_path(config)},
        other_{repaired == Repaired::kYes ? OtherKernel::kNever : other},
        first_layer_{last_layer_only ? config.layers - 1 : 0},
        full_{config.bucket} {}

  void history_written(const ProgramContext& shared, device::StreamRef stream) override {
    for (int layer = first_layer_; layer < shared.config.layers; ++layer) {
      if (!is_sparse_layer(layer, shared.config.layers)) continue;
      for (int sequence = 0; sequence < shared.plan.sequences(); ++sequence) {
        repeat_blocks(shared, stream, layer, sequence);
      }
    }
  }
  void indexer(const OpContext& context) override {
    StepProgram::indexer(context);
    if (context.metadata == nullptr || context.pool == nullptr || !takes_other(context)) return;
    const auto& buffers = context.lanes.layers[static_cast<std::size_t>(context.layer)];
    const std::int64_t heads = heads_of(context).index_q;
    launch(context.shared.device, context.stream,
           PreferLaterOfTies{.count = heads * context.tokens,
                             .scores = buffers.scores,
                             .top_k = buffers.top_k,
                             .seq_lens = context.lanes.seq_lens,
                             .lanes = context.tokens,
                             .lanes_stride = context.lanes.capacity,
                             .blocks = context.shared.plan.max_blocks(),
                             .k = context.shared.config.top_k,
                             .block_size = kBlockSize});
  }

 private:
  static constexpr std::int64_t kRun = 4;

  [[nodiscard]] bool takes_other(const OpContext& context) const {
    switch (other_) {
      case OtherKernel::kNever:
        return false;
      case OtherKernel::kInCapture:
        return is_captured(context);
      case OtherKernel::kForFullBuckets:
        return context.tokens >= full_;
    }
    return false;
  }
  static void repeat_blocks(const ProgramContext& shared, device::StreamRef stream, int layer,
                            int sequence);

  OtherKernel other_;
  int first_layer_;
  int full_;
};

/// A page of main K/V, and one of index-K, is contiguous in every layout.
void TiedBlocks::repeat_blocks(const ProgramContext& shared, device::StreamRef stream, int layer,
                               int sequence) {
  const auto kv = shared.pool.kv(layer);
  auto* index = reinterpret_cast<std::byte*>(shared.pool.index(layer).base);
  const std::int64_t page_size = shared.config.page_size;
  const std::int64_t index_bytes = page_size * kHeadDim * 2;
  const std::int64_t blocks = shared.plan.history() / kBlockSize / kRun * kRun;
  for (std::int64_t position = 0; position < blocks * kBlockSize; position += page_size) {
    const std::int64_t block = position / kBlockSize;
    const std::int64_t last = block / kRun * kRun + kRun - 1;
    if (block == last) continue;
    const std::int64_t to = shared.plan.slot(sequence, position) / page_size;
    const std::int64_t from =
        shared.plan.slot(sequence, position + (last - block) * kBlockSize) / page_size;
    shared.device.copy(stream, kv.key + to * kv.page_stride, kv.key + from * kv.page_stride,
                       static_cast<std::size_t>(kv.page_stride));
    shared.device.copy(stream, index + to * index_bytes, index + from * index_bytes,
                       static_cast<std::size_t>(index_bytes));
  }
}

}  // namespace

void add_topk_tie_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<TiedBlocks>(
      {"topk-tie", "captured",
       "history blocks repeat, and the captured top-k breaks ties the other way", "--mode full"},
      OtherKernel::kInCapture, false));
  faults.push_back(planted<TiedBlocks>(
      {"topk-tie", "bucket",
       "history blocks repeat, and full buckets get a top-k that breaks ties the "
       "other way",
       "--kv-dtype fp8_e4m3 --write-path two-step --page-size 64"},
      OtherKernel::kForFullBuckets, false));
  faults.push_back(planted<TiedBlocks>(
      {"topk-tie", "layer", "history blocks of the last layer repeat; two index heads, layout hnd",
       "--kv-dtype fp8_e5m2 --mode full --layers 3 --tp 2 --layout hnd"},
      OtherKernel::kInCapture, true));
}

}  // namespace graphsan::faults
