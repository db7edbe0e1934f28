#include "step/minimax_m3/minimax_m3_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/host/host_device.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

using ::testing::ElementsAre;

Config fp8_config(WritePath path = WritePath::kTwoStep) {
  Config config;
  config.kv_dtype = model::DType::kFp8E5M2;
  config.write_path = path;
  return config;
}

/// The built-in step on a host device of its own.
class Scene {
 public:
  explicit Scene(const Config& config = fp8_config())
      : device{device::make_host_device({})}, stream{device->create_stream()} {
    step = std::make_unique<MinimaxM3Step>(*device, config);
    step->reset(stream.get());
    step->write_history(stream.get());
    device->synchronize(stream.get());
  }

  template <typename T>
  [[nodiscard]] std::vector<T> read(const void* from, std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    device->copy(stream.get(), values.data(), from, values.size() * sizeof(T));
    device->synchronize(stream.get());
    return values;
  }
  [[nodiscard]] InputView input(const std::string& name, int step_number, Arm arm) {
    for (const InputView& view : step->inputs(step_number, arm)) {
      if (view.name == name) return view;
    }
    throw std::logic_error{"no input " + name};
  }
  /// Ops run eagerly between the segments of a step, in order; `graph` where a graph is launched.
  [[nodiscard]] std::vector<std::string> sequence_of(const CaptureRequest& request, int number) {
    const auto captured = step->capture(request, stream.get());
    std::vector<std::string> sequence;
    for (const Segment& segment : captured->segments(number)) {
      if (segment.exec) sequence.emplace_back("graph");
      if (!segment.break_after.empty()) sequence.push_back(segment.break_after);
    }
    return sequence;
  }

  std::unique_ptr<device::Device> device;
  device::Stream stream;
  std::unique_ptr<MinimaxM3Step> step;
};

TEST(MinimaxM3Step, OwnsHistoryAndReachedTokensOnly) {
  const Config config = fp8_config();
  const Scene scene;
  const BatchPlan plan{config};
  EXPECT_EQ(scene.step->owner(0, plan.slot(2, 100)),
            (model::LogicalRow{2, 100, 0, model::CacheKind::kKey}));
  EXPECT_EQ(scene.step->owner(0, plan.slot(1, plan.history() + 3)),
            (model::LogicalRow{1, plan.history() + 3, 0, model::CacheKind::kKey}));
  // Page 0 is nobody's, and so is what lies behind the last token.
  EXPECT_FALSE(scene.step->owner(0, 5).has_value());
  EXPECT_FALSE(scene.step->owner(0, plan.slot(1, plan.history() + 4)).has_value());
  const auto& caches = scene.step->description().caches;
  for (int cache = 0; cache < static_cast<int>(caches.size()); ++cache) {
    if (caches[static_cast<std::size_t>(cache)].layout.kind != model::CacheKind::kGuard) continue;
    EXPECT_FALSE(scene.step->owner(cache, 0).has_value());
  }
}

TEST(MinimaxM3Step, DeclaresEachCacheWithAGuardZoneOnBothSides) {
  const Scene scene;
  std::vector<std::string> names;
  for (const kvcache::CacheView& view : scene.step->description().caches) {
    names.push_back(view.layout.name);
  }
  EXPECT_THAT(names,
              ElementsAre("layer 0 key", "layer 0 value", "layer 1 key", "layer 1 value",
                          "layer 1 index-key", "layer 0 kv cache, guard before",
                          "layer 0 kv cache, guard after", "layer 1 kv cache, guard before",
                          "layer 1 kv cache, guard after", "layer 1 index-key cache, guard before",
                          "layer 1 index-key cache, guard after"));
}

TEST(MinimaxM3Step, SaysWhyAStepIsNotCovered) {
  Config config = fp8_config();
  config.mode = Mode::kFullDecodeOnly;
  config.batch = Batch::kPrefill;
  EXPECT_FALSE(Scene{config}.step->plan(0).covered);
  EXPECT_EQ(Scene{config}.step->plan(0).uncovered_reason,
            "mode full-decode-only runs prefill steps eagerly");
  config.mode = Mode::kPiecewise;
  config.capture_limit = 2;
  EXPECT_EQ(Scene{config}.step->plan(0).uncovered_reason,
            "4 tokens are more than the capture limit of 2");
  EXPECT_TRUE(Scene{}.step->plan(0).covered);
  EXPECT_EQ(Scene{}.step->plan(0).uncovered_reason, "");
}

TEST(MinimaxM3Step, PadLanesGetSlotMinusOneAndKeepAnEarlierBatchsValues) {
  Scene scene;
  scene.step->prepare(0, Arm::kGraph, scene.stream.get());
  const InputView slots = scene.input("slot mapping", 0, Arm::kGraph);
  ASSERT_EQ(slots.lanes, 4);
  const auto mapped = scene.read<std::int64_t>(slots.address, 4);
  const model::StepFacts plan = scene.step->plan(0);
  EXPECT_THAT(mapped, ElementsAre(plan.lanes[0].slot, plan.lanes[1].slot, plan.lanes[2].slot, -1));
  const InputView rows = scene.input("layer 1 input", 0, Arm::kGraph);
  EXPECT_TRUE(rows.is_activation);
  const auto pad = [&] {
    return scene.read<std::uint16_t>(
        static_cast<const std::byte*>(rows.address) + 3 * rows.lane_stride, rows.lane_bytes / 2);
  };
  const auto before = pad();
  EXPECT_TRUE(std::any_of(before.begin(), before.end(), [](std::uint16_t v) { return v != 0; }));
  scene.step->prepare(1, Arm::kGraph, scene.stream.get());
  EXPECT_EQ(pad(), before);
}

TEST(MinimaxM3Step, RunsEagerlyInBuffersOfTheExactSize) {
  Scene scene;
  EXPECT_EQ(scene.input("slot mapping", 0, Arm::kEager).lanes, 3);
  EXPECT_EQ(scene.input("slot mapping", 0, Arm::kPaddedEager).lanes, 4);
  EXPECT_NE(scene.input("slot mapping", 0, Arm::kEager).address,
            scene.input("slot mapping", 0, Arm::kGraph).address);
  EXPECT_EQ(scene.input("slot mapping", 0, Arm::kPaddedEager).address,
            scene.input("slot mapping", 0, Arm::kGraph).address);
}

TEST(MinimaxM3Step, ResetRestoresAZoneAndZeroesTheCaches) {
  Scene scene;
  for (const kvcache::CacheView& view : scene.step->description().caches) {
    scene.device->fill(scene.stream.get(), view.base, 0x77, 64);
  }
  scene.step->reset(scene.stream.get());
  for (const kvcache::CacheView& view : scene.step->description().caches) {
    const bool guard = view.layout.kind == model::CacheKind::kGuard;
    EXPECT_EQ(scene.read<std::uint8_t>(view.base, 64),
              std::vector<std::uint8_t>(64, guard ? 0xA5 : 0))
        << view.layout.name;
  }
}

TEST(MinimaxM3Step, CapturesOneGraphWhereNothingBreaksIt) {
  Config config = fp8_config();
  config.mode = Mode::kFull;
  EXPECT_THAT(Scene{config}.sequence_of({}, 0), ElementsAre("graph"));
}

TEST(MinimaxM3Step, BreaksAPiecewiseCaptureAtIndexerAndAttention) {
  // Layer 0 is dense: it has no indexer.
  EXPECT_THAT(Scene{}.sequence_of({}, 0), ElementsAre("graph", "layer 0 / attention", "graph",
                                                      "layer 1 / indexer", "layer 1 / attention"));
}

TEST(MinimaxM3Step, BreaksABreakableCaptureAtTheInsertToo) {
  Config config = fp8_config();
  config.mode = Mode::kBreakable;
  EXPECT_THAT(Scene{config}.sequence_of({}, 0),
              ElementsAre("graph", "layer 0 / insert", "layer 0 / attention", "graph",
                          "layer 1 / insert", "layer 1 / indexer", "layer 1 / attention"));
}

TEST(MinimaxM3Step, ReplaysABucketsOwnGraphForEachKindOfStep) {
  Config config = fp8_config();
  config.batch = Batch::kPrompt;
  config.tokens = config.bucket = 16;
  const Scene scene{config};
  const auto captured = scene.step->capture({}, scene.stream.get());
  EXPECT_EQ(captured->bucket(0), 16);
  EXPECT_EQ(captured->bucket(1), 1);
  EXPECT_NE(captured->segments(0).data(), captured->segments(1).data());
  EXPECT_EQ(captured->segments(1).data(), captured->segments(2).data());
}

TEST(MinimaxM3Step, ReshapesToAnotherNumberOfLanesWithoutMovingARow) {
  const Scene scene;
  const auto full = scene.step->reshaped({.tokens = 4});
  ASSERT_NE(full, nullptr);
  const model::StepFacts padded_plan = scene.step->plan(2);
  const model::StepFacts full_plan = full->plan(2);
  EXPECT_EQ(full_plan.tokens, 4);
  for (std::size_t lane = 0; lane < 3; ++lane) {
    EXPECT_EQ(full_plan.lanes[lane].slot, padded_plan.lanes[lane].slot);
  }
}

TEST(MinimaxM3Step, NamesTheBuffersThatItsCachesLieIn) {
  const Scene scene;
  const device::AddressMap map = scene.step->addresses();
  const auto name = [&](const void* address) {
    return map.resolve(reinterpret_cast<std::uint64_t>(address), 0).name;
  };
  const auto& caches = scene.step->description().caches;
  EXPECT_EQ(name(caches[0].base), "layer 0 kv cache");
  EXPECT_EQ(name(caches[4].base), "layer 1 index-key cache");
}

TEST(MinimaxM3Step, RefusesAConfigurationThatCannotRun) {
  const auto device = device::make_host_device({});
  Config config = fp8_config();
  config.tp = 3;
  EXPECT_THROW(MinimaxM3Step(*device, config), ConfigError);
}

TEST(ConversionFor, TakesTheHardwaresOnlyWhereItHasOne) {
  const auto device = device::make_host_device({});
  EXPECT_EQ(conversion_for(ConvertChoice::kAuto, *device), Conversion::kSoftware);
  EXPECT_EQ(conversion_for(ConvertChoice::kSoftware, *device), Conversion::kSoftware);
}

TEST(MemoryNeeded, GrowsWithTheContextAndShrinksWithFp8) {
  Config config;
  const std::uint64_t bf16 = memory_needed(config);
  config.context *= 4;
  EXPECT_GT(memory_needed(config), 3 * bf16);
  config = {};
  config.kv_dtype = model::DType::kFp8E5M2;
  EXPECT_LT(memory_needed(config), bf16);
}

}  // namespace
}  // namespace graphsan::step::minimax_m3
