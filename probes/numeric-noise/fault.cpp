#include "probes/fault_mechanisms.hpp"
#include "probes/fault_ops/fault_element_op.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "probes/fault_ops/fault_program.hpp"
#include "probes/numeric-noise/fault_ops.hpp"

namespace graphsan::faults {

using step::minimax_m3::Config;
using step::minimax_m3::OpContext;
using step::minimax_m3::StepProgram;

namespace {

/// One of the last layer's results is a sum of splits, and a batch that leaves a bucket full is
/// split where a smaller one is not. The last layer: nothing downstream selects by it. Repaired:
/// never split, so that a result does not depend on the batch it came in.
class BatchDependentSplits : public StepProgram {
 public:
  BatchDependentSplits(const Config& config, Repaired repaired)
      : StepProgram{make_insert_path(config)},
        repaired_{repaired},
        layer_{config.layers - 1},
        full_{config.bucket} {}

 protected:
  [[nodiscard]] bool concerns(const OpContext& context) const {
    return context.layer == layer_ && context.pool != nullptr;
  }
  void sum_up(const OpContext& context, const HeadSlice& slice) const {
    const bool split = repaired_ == Repaired::kNo && context.tokens >= full_;
    launch(context.shared.device, context.stream,
           SumOfSplits{context.tokens * slice.width, slice.values, slice.stride, slice.width,
                       split ? 2 : 1});
  }

 private:
  Repaired repaired_;
  int layer_;
  int full_;
};

class SplitValue final : public BatchDependentSplits {
 public:
  using BatchDependentSplits::BatchDependentSplits;

  void insert(const OpContext& context) override {
    if (concerns(context)) sum_up(context, value_slice(context));
    StepProgram::insert(context);
  }
};

class SplitKey final : public BatchDependentSplits {
 public:
  using BatchDependentSplits::BatchDependentSplits;

  void insert(const OpContext& context) override {
    if (concerns(context)) sum_up(context, key_slice(context));
    StepProgram::insert(context);
  }
};

class SplitOutput final : public BatchDependentSplits {
 public:
  using BatchDependentSplits::BatchDependentSplits;

  void attention(const OpContext& context) override {
    StepProgram::attention(context);
    if (concerns(context) && context.metadata != nullptr) sum_up(context, output_slice(context));
  }
};

}  // namespace

void add_numeric_noise_faults(std::vector<PlantedFault>& faults) {
  faults.push_back(planted<SplitValue>(
      {"numeric-noise", "value",
       "V of the last layer is a sum of two bf16 splits where the bucket is full",
       "--write-path two-step"}));
  faults.push_back(planted<SplitOutput>(
      {"numeric-noise", "output",
       "the last layer's output is a sum of two bf16 splits where the bucket is full",
       "--mode full --layers 3"}));
  faults.push_back(planted<SplitKey>(
      {"numeric-noise", "key",
       "K of the last layer is split where the bucket is full, and rounded to fp8 afterwards",
       "--kv-dtype fp8_e4m3 --write-path two-step --mode full --tokens 6 --bucket 8"}));
}

}  // namespace graphsan::faults
