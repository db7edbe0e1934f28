// The step that GraphSan runs eagerly and as a graph: four decode steps of three sequences, padded
// to four lanes, each written by one launch of the kernel.
#pragma once

#include <graphsan/step.hpp>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "paged_write.hpp"

namespace paged_write {

class PagedStep : public graphsan::Step {
 public:
  explicit PagedStep(Count count) : count_{count} {}

  void set_up(graphsan::Host& host) override {
    cache_ = host.allocate<std::uint16_t>("K/V cache", kPages * kPageSize * 2 * kRow);
    rows_ = host.allocate<float>("K/V rows", kBucket * 2 * kRow);
    slots_ = host.allocate<std::int64_t>("slot mapping", kBucket);
    count_now_ = host.allocate<std::int32_t>("token count", 1);
  }

  graphsan::Description describe() override {
    // K and V of a slot lie side by side, so both caches have the stride of the two.
    graphsan::Cache key;
    key.name = "key";
    key.kind = graphsan::CacheKind::kKey;
    key.dtype = graphsan::DType::kBf16;
    key.pages = kPages;
    key.page_size = kPageSize;
    key.heads = kHeads;
    key.dim = kDim;
    key.slot_stride = 2 * kRow * sizeof(std::uint16_t);
    key.data = cache_;
    graphsan::Cache value = key;
    value.name = "value";
    value.kind = graphsan::CacheKind::kValue;
    value.data = cache_ + kRow;
    graphsan::Description description;
    description.name = "paged K/V write";
    description.steps = 4;
    description.caches = {key, value};
    return description;
  }

  graphsan::Batch batch(int step) override {
    graphsan::Batch batch;
    for (int i = 0; i < kTokens; ++i) batch.slots.push_back(slot_of(step, i));
    batch.bucket = kBucket;
    return batch;
  }

  void prepare(const graphsan::Call& call) override {
    // A dummy batch, as a warm-up and a capture have it, has no token.
    tokens_ = call.live() ? kTokens : 0;
    std::array<std::int64_t, kBucket> slots{};
    for (int i = 0; i < kBucket; ++i) slots[i] = i < tokens_ ? slot_of(call.step, i) : -1;
    std::vector<float> rows(kTokens * 2 * kRow);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = static_cast<float>(call.step + 2) + static_cast<float>(i) / 1024;
    }
    host().copy(call.stream, rows_, rows.data(), rows.size() * sizeof(float));
    host().copy(call.stream, slots_, slots.data(), sizeof(slots));
    host().copy(call.stream, count_now_, &tokens_, sizeof(tokens_));
    host().synchronize(call.stream);
  }

  void run(const graphsan::Call& call) override {
    Arguments args{};
    args.cache = cache_;
    args.rows = rows_;
    args.slots = slots_;
    args.lanes = call.lanes();
    switch (count_) {
      case Count::kByPointer:
        args.count_now = count_now_;
        break;
      case Count::kByValue:
        args.count = tokens_;
        break;
    }
    host().label(call.stream, GRAPHSAN_HERE);
    if (!host().is_cuda()) return host().launch<&run_on_host>(call.stream, "write_rows", {args});
#ifdef PAGED_WRITE_CUDA
    launch(call.stream, args);
#else
    throw std::runtime_error{"built without the CUDA kernel; check on DeviceChoice::kHost"};
#endif
  }

  std::vector<graphsan::Input> inputs(const graphsan::Call&) override {
    graphsan::Input rows;
    rows.name = "K/V rows";
    rows.data = rows_;
    rows.lane_bytes = 2 * kRow * sizeof(float);
    rows.dtype = graphsan::DType::kF32;
    rows.is_activation = true;
    graphsan::Input slots;
    slots.name = "slot mapping";
    slots.data = slots_;
    slots.lane_bytes = sizeof(std::int64_t);
    return {rows, slots};
  }

 private:
  static constexpr int kTokens = 3;
  static constexpr int kBucket = 4;
  static constexpr int kPages = 4;
  static constexpr int kPageSize = 16;

  /// The fields' names are for reports: they say which argument was frozen.
  struct HostArguments {
    Arguments args;
    static std::vector<graphsan::Field> fields() {
      return {GRAPHSAN_FIELD(Arguments, cache), GRAPHSAN_FIELD(Arguments, rows),
              GRAPHSAN_FIELD(Arguments, slots), GRAPHSAN_FIELD(Arguments, count_now),
              GRAPHSAN_FIELD(Arguments, count), GRAPHSAN_FIELD(Arguments, lanes)};
    }
  };

  static void run_on_host(const HostArguments& host) {
    for (int lane = 0; lane < host.args.lanes; ++lane) {
      for (int i = 0; i < 2 * kRow; ++i) write_element(host.args, lane, i);
    }
  }

  /// Sequence i grows in page i.
  static std::int64_t slot_of(int step, int sequence) { return sequence * kPageSize + step; }

  Count count_;
  std::int32_t tokens_ = 0;
  std::uint16_t* cache_ = nullptr;
  float* rows_ = nullptr;
  std::int64_t* slots_ = nullptr;
  std::int32_t* count_now_ = nullptr;
};

}  // namespace paged_write
