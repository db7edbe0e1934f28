#pragma once

#include <memory>
#include <vector>

#include "step/minimax_m3/batch_plan.hpp"
#include "step/minimax_m3/captured_minimax_m3.hpp"
#include "step/minimax_m3/config.hpp"
#include "step/minimax_m3/forward.hpp"
#include "step/minimax_m3/input_data.hpp"
#include "step/minimax_m3/lane_buffers.hpp"
#include "step/minimax_m3/pool.hpp"
#include "step/minimax_m3/reference.hpp"
#include "step/minimax_m3/step_program.hpp"
#include "step/step.hpp"

namespace graphsan::step::minimax_m3 {

/// The fp8 conversion that `choice` means on this device. Throws ConfigError when native conversion
/// is asked for where the hardware has none.
[[nodiscard]] Conversion conversion_for(ConvertChoice choice, const device::Device& device);

/// Device bytes that a case of this shape takes, caches and their copy included.
[[nodiscard]] std::uint64_t memory_needed(const Config& config);

/// The built-in MiniMax-M3 attention and KV write, several layers deep; minimax-m3.md in docs.
class MinimaxM3Step final : public Step {
 public:
  /// Allocates all memory and writes the history's copy. `program`: the host code between the
  /// kernels; a planted fault passes its own. Throws ConfigError, DeviceError. The device must
  /// outlive the step.
  MinimaxM3Step(device::Device& device, const Config& config,
                ProgramFactory program = sound_program());
  ~MinimaxM3Step() override;

  [[nodiscard]] const StepDescription& description() const override { return description_; }
  [[nodiscard]] model::StepFacts plan(int step) const override;
  [[nodiscard]] std::vector<OutputView> outputs(int step, Arm arm) const override;
  [[nodiscard]] std::vector<InputView> inputs(int step, Arm arm) const override;
  [[nodiscard]] std::optional<model::LogicalRow> owner(int cache, std::int64_t row) const override;
  [[nodiscard]] std::vector<OpaqueView> opaque() const override { return program_->opaque(); }
  void reset(device::StreamRef stream) override;
  void profile(device::StreamRef stream) override;
  void write_history(device::StreamRef stream) override;
  void prepare(int step, Arm arm, device::StreamRef stream) override;
  void run(int step, Arm arm, device::StreamRef stream) override;
  [[nodiscard]] std::unique_ptr<CapturedStep> capture(const CaptureRequest& request,
                                                      device::StreamRef stream) override;
  [[nodiscard]] device::AddressMap addresses() const override;
  [[nodiscard]] std::vector<ScratchView> scratch() const override;
  [[nodiscard]] Oracle* oracle() override;
  [[nodiscard]] std::unique_ptr<Step> reshaped(const Reshape& reshape) const override;

 private:
  [[nodiscard]] const LaneBuffers& lanes_for(int step, Arm arm) const;
  [[nodiscard]] CapturePreset preset(int step) const;
  void load_history(device::StreamRef stream);
  void load_history_chunk(device::StreamRef stream, int layer, int sequence, std::int64_t first,
                          std::int64_t count);
  void split_history_pages();
  void load_dummy_batch(device::StreamRef stream, int bucket);
  void capture_bucket(CapturedMinimaxM3& captured, const CaptureRequest& request,
                      device::StreamRef stream, const CapturePreset& preset, int bucket, int kind);

  device::Device* device_;
  Config config_;
  ProgramFactory factory_;
  BatchPlan plan_;
  InputData data_;
  device::CachingAllocator allocator_;
  device::Stream setup_stream_;
  Weights weights_;
  Conversion conversion_;
  Pool pool_;
  Pool history_;
  std::unique_ptr<kvcache::CacheSet> pool_set_;
  std::unique_ptr<kvcache::CacheSet> history_set_;
  LaneBuffers exact_;
  LaneBuffers persistent_;
  ProgramContext shared_;
  std::unique_ptr<StepProgram> program_;
  Forward forward_;
  StepDescription description_;
  Metadata live_metadata_;
  std::vector<std::int64_t> history_pages_;  ///< pages that hold history only
  std::vector<std::int64_t> history_rows_;   ///< global rows of the other history slots
  std::unique_ptr<Reference> reference_;
};

}  // namespace graphsan::step::minimax_m3
