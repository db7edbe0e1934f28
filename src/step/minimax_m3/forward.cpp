#include "step/minimax_m3/forward.hpp"

#include <fmt/format.h>

namespace graphsan::step::minimax_m3 {

/// One pass: where it goes and whether a capture takes it.
struct Forward::Pass {
  device::StreamRef stream;
  const LaneBuffers* lanes;
  int tokens;
  const Pool* pool;
  SegmentedCapture* capture;
  BreakSet breaks;
  device::PoolId graph_pool;
};

Forward::Forward(const ProgramContext& shared, const Weights& weights, StepProgram& program)
    : shared_{&shared}, weights_{&weights}, program_{&program} {}

void Forward::run(device::StreamRef stream, const LaneBuffers& lanes, int tokens,
                  const Pool* pool) {
  const Pass pass{stream, &lanes, tokens, pool, nullptr, {}, {}};
  for (int i = 0; i < shared_->config.layers; ++i) layer(pass, i);
}

void Forward::capture(SegmentedCapture& capture, device::StreamRef stream, const LaneBuffers& lanes,
                      int tokens, const Pool* pool, const BreakSet& breaks,
                      device::PoolId graph_pool) {
  const Pass pass{stream, &lanes, tokens, pool, &capture, breaks, graph_pool};
  for (int i = 0; i < shared_->config.layers; ++i) layer(pass, i);
}

void Forward::issue(const Pass& pass, const char* op, int layer, bool is_break,
                    const std::function<void(device::StreamRef)>& launch) {
  std::string label = fmt::format("layer {} / {}", layer, op);
  const auto labelled = [this, launch, label](device::StreamRef stream) {
    const device::LabelScope scope{shared_->device, label};
    launch(stream);
  };
  if (pass.capture == nullptr || !is_break) {
    labelled(pass.stream);
    return;
  }
  // A break's own temporaries are the framework's ordinary ones, not the graph pool's.
  shared_->allocator.end_pool();
  pass.capture->break_here(label, labelled);
  shared_->allocator.begin_pool(pass.graph_pool);
}

void Forward::layer(const Pass& pass, int layer) {
  const bool fused = program_->writes_in_norm_rope();
  // Copies of the pass go into the ops: a break outlives this call.
  const Pass kept = pass;
  issue(pass, "norm-rope", layer, pass.breaks.norm_rope,
        [this, kept, layer](device::StreamRef stream) {
          program_->norm_rope(context(kept, stream, layer));
        });
  if (!fused) {
    issue(pass, "insert", layer, pass.breaks.insert, [this, kept, layer](device::StreamRef stream) {
      program_->insert(context(kept, stream, layer));
    });
  }
  if (is_sparse_layer(layer, shared_->config.layers)) {
    issue(pass, "indexer", layer, pass.breaks.indexer,
          [this, kept, layer](device::StreamRef stream) {
            program_->indexer(context(kept, stream, layer));
          });
  }
  issue(pass, "attention", layer, pass.breaks.attention,
        [this, kept, layer](device::StreamRef stream) {
          program_->attention(context(kept, stream, layer));
        });
}

OpContext Forward::context(const Pass& pass, device::StreamRef stream, int layer) const {
  return {.shared = *shared_,
          .stream = stream,
          .weights = *weights_,
          .lanes = *pass.lanes,
          .pool = pass.pool,
          .metadata = metadata_,
          .layer = layer,
          .tokens = pass.tokens};
}

}  // namespace graphsan::step::minimax_m3
