#include <algorithm>
#include <cmath>

#include "model/numeric.hpp"
#include "run/consequences.hpp"

namespace graphsan::run {

namespace {

model::OutputDifference compare_lane(const OutputRows& eager, const OutputRows& graph,
                                     std::size_t lane) {
  model::OutputDifference difference;
  difference.layer = eager.layout.layer;
  difference.lane = static_cast<int>(lane);
  const std::vector<std::byte>& ours = eager.lanes[lane];
  const std::vector<std::byte>& theirs = graph.lanes[lane];
  const model::DType dtype = eager.layout.dtype;
  const std::vector<float> a = model::decode(dtype, ours);
  const std::vector<float> b = model::decode(dtype, theirs);
  const std::size_t size = model::byte_size(dtype);
  double error = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      difference.non_finite = true;
      continue;
    }
    const double apart = std::abs(static_cast<double>(a[i]) - b[i]);
    difference.max_abs = std::max(difference.max_abs, apart);
    error += apart;
    magnitude += std::abs(static_cast<double>(a[i]));
    difference.max_code_distance =
        std::max(difference.max_code_distance,
                 model::code_distance(dtype, std::span{ours}.subspan(i * size, size),
                                      std::span{theirs}.subspan(i * size, size)));
  }
  difference.mean_rel = magnitude > 0 ? error / magnitude : 0;
  return difference;
}

}  // namespace

std::vector<model::OutputDifference> compare_outputs(const std::vector<model::StepFacts>& steps,
                                                     const ArmLog& eager, const ArmLog& graph,
                                                     bool carried) {
  std::vector<model::OutputDifference> out;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (!steps[step].covered && !carried) continue;
    const StepLog& ours = eager.steps[step];
    const StepLog& theirs = graph.steps[step];
    for (std::size_t i = 0; i < ours.outputs.size(); ++i) {
      const OutputRows& rows = ours.outputs[i];
      if (rows.layout.kind != model::CacheKind::kOutput) continue;
      for (std::size_t lane = 0; lane < rows.lanes.size(); ++lane) {
        if (rows.lanes[lane] == theirs.outputs[i].lanes[lane]) continue;
        model::OutputDifference difference = compare_lane(rows, theirs.outputs[i], lane);
        difference.step = static_cast<int>(step);
        difference.carried = carried;
        if (const auto* attended = theirs.attended_lane(theirs.outputs[i], lane)) {
          difference.reproduced_from_graph_cache = *attended == theirs.outputs[i].lanes[lane];
        }
        out.push_back(difference);
      }
    }
  }
  return out;
}

void mark_paddings(model::Facts& facts, const ArmLog& padded_eager, const ArmLog& graph) {
  const auto shows = [&](const auto& difference, model::CacheKind kind) {
    if (difference.carried) return false;
    const auto step = static_cast<std::size_t>(difference.step);
    const auto lane = static_cast<std::size_t>(difference.lane);
    const std::vector<OutputRows>& theirs = graph.steps[step].outputs;
    const std::vector<OutputRows>& padded = padded_eager.steps[step].outputs;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (theirs[i].layout.kind != kind || theirs[i].layout.layer != difference.layer) continue;
      return theirs[i].lanes[lane] == padded[i].lanes[lane];
    }
    return false;
  };
  for (model::OutputDifference& difference : facts.outputs) {
    difference.padded_eager_shows_it = shows(difference, model::CacheKind::kOutput);
  }
  for (model::TopKDifference& difference : facts.top_k) {
    difference.padded_eager_shows_it = shows(difference, model::CacheKind::kTopK);
  }
}

}  // namespace graphsan::run
