#pragma once

#include <graphsan/step.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace graphsan::test {

/// Batches of two sizes, each with a graph, rows and slots of its own: 0 and 1 have four lanes, 2
/// and 3 have two. No batch is padded.
class BucketStep : public Step {
 public:
  /// With `elide`, the graph of two lanes is captured without its write.
  explicit BucketStep(bool elide = false) : elide_{elide} {}

  void set_up(Host& host) override {
    cache_ = host.allocate<float>("cache", kRows);
    // The small graph's lanes lie behind the large one's: what is captured differs with the bucket.
    rows_ = host.allocate<float>("rows", 4 + 2);
    slots_ = host.allocate<std::int64_t>("slots", 4 + 2);
    spare_ = host.allocate<float>("spare", 1);
  }

  Description describe() override {
    Cache key;
    key.name = "key";
    key.dtype = DType::kF32;
    key.pages = 1;
    key.page_size = kRows;
    key.dim = 1;
    key.data = cache_;
    Description description;
    description.name = "two buckets";
    description.steps = 4;
    description.caches = {key};
    return description;
  }

  Batch batch(int step) override {
    Batch batch;
    for (int lane = 0; lane < tokens(step); ++lane) batch.slots.push_back(4 * step + lane);
    return batch;
  }

  void prepare(const Call& call) override {
    std::vector<float> rows;
    std::vector<std::int64_t> slots;
    for (int lane = 0; lane < call.lanes(); ++lane) {
      rows.push_back(static_cast<float>(10 * (call.step + 2) + lane));
      slots.push_back(call.step < 0 ? -1 : 4 * call.step + lane);
    }
    host().copy(call.stream, rows_ + first(call), rows.data(), rows.size() * sizeof(float));
    host().copy(call.stream, slots_ + first(call), slots.data(),
                slots.size() * sizeof(std::int64_t));
    host().synchronize(call.stream);
  }

  void run(const Call& call) override {
    host().fill(call.stream, spare_, 0, sizeof(float));
    if (elide_ && call.bucket == 2 && !call.live()) return;
    host().launch<&write>(call.stream, "write",
                          {cache_, rows_ + first(call), slots_ + first(call), call.lanes()});
  }

  std::vector<Input> inputs(const Call& call) override {
    Input rows;
    rows.name = "rows";
    rows.data = rows_ + first(call);
    rows.lane_bytes = sizeof(float);
    rows.dtype = DType::kF32;
    rows.is_activation = true;
    Input slots;
    slots.name = "slot mapping";
    slots.data = slots_ + first(call);
    slots.lane_bytes = sizeof(std::int64_t);
    return {rows, slots};
  }

 private:
  static constexpr int kRows = 16;

  struct Arguments {
    float* cache;
    const float* rows;
    const std::int64_t* slots;
    std::int64_t lanes;
    static std::vector<Field> fields() {
      return {GRAPHSAN_FIELD(Arguments, cache), GRAPHSAN_FIELD(Arguments, rows),
              GRAPHSAN_FIELD(Arguments, slots), GRAPHSAN_FIELD(Arguments, lanes)};
    }
  };

  static void write(const Arguments& args) {
    for (std::int64_t lane = 0; lane < args.lanes; ++lane) {
      if (args.slots[lane] >= 0) args.cache[args.slots[lane]] = args.rows[lane];
    }
  }

  static int tokens(int step) { return step < 2 ? 4 : 2; }
  static int first(const Call& call) { return call.bucket == 4 ? 0 : 4; }

  bool elide_;
  float* cache_ = nullptr;         // [kRows]
  float* rows_ = nullptr;          // [4], then [2]
  std::int64_t* slots_ = nullptr;  // [4], then [2]
  float* spare_ = nullptr;         // [1]
};

}  // namespace graphsan::test
