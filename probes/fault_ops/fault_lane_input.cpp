#include "probes/fault_ops/fault_lane_input.hpp"

#include <cstring>
#include <utility>

#include "step/minimax_m3/ops.hpp"

namespace graphsan::faults {

using namespace step::minimax_m3;  // NOLINT(google-build-using-namespace)

LaneInputProgram::LaneInputProgram(const Config& config, LaneInput input, int depth)
    : StepProgram{make_insert_path(config)},
      input_{std::move(input)},
      depth_{static_cast<std::size_t>(depth)} {}

std::size_t LaneInputProgram::element_bytes() const {
  return input_.kind == LaneInputKind::kLengths ? sizeof(std::int32_t) : sizeof(std::int64_t);
}

const void* LaneInputProgram::source(const LaneBuffers& lanes) const {
  switch (input_.kind) {
    case LaneInputKind::kSlots:
    case LaneInputKind::kIndexSlots:
      return lanes.slots;
    case LaneInputKind::kPositions:
      return lanes.positions;
    case LaneInputKind::kLengths:
      return lanes.seq_lens;
  }
  return nullptr;
}

bool LaneInputProgram::is_for_replay(const RefillContext& context) {
  return context.arm == step::Arm::kGraph && &context.lanes == &context.shared.persistent;
}

bool LaneInputProgram::reads_copy(const OpContext& context, LaneInputKind kind) const {
  const bool last = context.layer == context.shared.config.layers - 1;
  return input_.kind == kind && (kind != LaneInputKind::kLengths || last);
}

void LaneInputProgram::bind(const ProgramContext& shared, device::StreamRef) {
  const auto lanes = static_cast<std::size_t>(shared.persistent.capacity);
  memory_.emplace(shared.device);
  for (std::size_t i = 0; i < depth_; ++i) {
    const std::string name = depth_ == 1 ? input_.name : input_.name + " " + std::to_string(i);
    ring_.push_back(memory_->add<std::byte>(name, lanes * element_bytes()));
  }
  neutral_.assign(lanes * element_bytes(), std::byte{0});
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::int32_t one = 1;
    const std::int64_t none = -1;
    if (input_.kind == LaneInputKind::kLengths) {
      std::memcpy(neutral_.data() + lane * sizeof(one), &one, sizeof(one));
    } else if (input_.kind != LaneInputKind::kPositions) {
      std::memcpy(neutral_.data() + lane * sizeof(none), &none, sizeof(none));
    }
  }
}

void LaneInputProgram::reset(const ProgramContext& shared, device::StreamRef stream) {
  cursor_ = 0;
  lanes_ = shared.persistent.capacity;
  for (std::byte* buffer : ring_) {
    shared.device.copy(stream, buffer, neutral_.data(), neutral_.size());
  }
}

void LaneInputProgram::refill(const RefillContext& context) {
  cursor_ = (cursor_ + 1) % depth_;
  lanes_ = context.metadata.length;
  const auto copied = static_cast<std::size_t>(lanes_to_copy(context, lanes_));
  context.shared.device.copy(context.stream, ring_[cursor_], source(context.lanes),
                             copied * element_bytes());
}

void LaneInputProgram::norm_rope(const OpContext& context) {
  NormRopeArgs args = norm_rope_args(context, writes_in_norm_rope());
  if (reads_copy(context, LaneInputKind::kPositions)) args.positions = live<std::int64_t>();
  if (args.slots != nullptr) {
    const bool all = reads_copy(context, LaneInputKind::kSlots);
    if (all) args.slots = live<std::int64_t>();
    if (all || reads_copy(context, LaneInputKind::kIndexSlots)) {
      args.index_slots = live<std::int64_t>();
    }
  }
  launch_mix(context.shared.device, context.stream, mix_args(context));
  launch_norm_rope(context.shared.device, context.stream, args);
}

void LaneInputProgram::insert(const OpContext& context) {
  InsertContext made = insert_context(context);
  if (reads_copy(context, LaneInputKind::kIndexSlots)) {
    if (made.cache.key == nullptr) return;
    write_main(made, made.slots, made.tokens);
    return write_index(made, live<std::int64_t>(), made.tokens, NegativeSlot::kSkip);
  }
  if (reads_copy(context, LaneInputKind::kSlots)) made.slots = live<std::int64_t>();
  insert_path().insert(made);
}

void LaneInputProgram::indexer(const OpContext& context) {
  if (!reads_copy(context, LaneInputKind::kLengths)) return StepProgram::indexer(context);
  if (context.metadata == nullptr || context.pool == nullptr) return;
  const ProgramContext& shared = context.shared;
  const LayerBuffers& buffers = context.lanes.layers[static_cast<std::size_t>(context.layer)];
  IndexerScoreArgs score = score_args(context.lanes, shared.config, shared.plan, *context.pool,
                                      context.layer, context.tokens, buffers.scores);
  score.context.seq_lens = live<std::int32_t>();
  launch_indexer_score(shared.device, context.stream, score);
  IndexerTopKArgs top_k = top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                     buffers.scores, buffers.top_k);
  top_k.seq_lens = live<std::int32_t>();
  launch_indexer_top_k(shared.device, context.stream, top_k);
}

void LaneInputProgram::attention(const OpContext& context) {
  if (!reads_copy(context, LaneInputKind::kLengths)) return StepProgram::attention(context);
  if (context.metadata == nullptr || context.pool == nullptr) return;
  const ProgramContext& shared = context.shared;
  AttentionArgs args = attention_args(
      context.lanes, shared.config, shared.plan, *context.pool, context.layer, context.tokens,
      context.lanes.layers[static_cast<std::size_t>(context.layer)].out);
  args.context.seq_lens = live<std::int32_t>();
  launch_attention(shared.device, context.stream, args);
}

std::vector<step::InputView> LaneInputProgram::inputs(int, step::Arm) const {
  const auto bytes = static_cast<std::int64_t>(element_bytes());
  const bool lengths = input_.kind == LaneInputKind::kLengths;
  const bool positions = input_.kind == LaneInputKind::kPositions;
  return {{input_.name, ring_[cursor_], bytes, bytes, lanes_,
           lengths ? model::DType::kI32 : model::DType::kI64, false,
           lengths || positions ? 0 : -1}};
}

void LaneInputProgram::describe(device::AddressMap& map) const {
  if (memory_) memory_->describe(map);
}

}  // namespace graphsan::faults
