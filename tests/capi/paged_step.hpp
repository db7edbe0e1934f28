#pragma once

#include <graphsan/step.hpp>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace graphsan::test {

/// Three tokens a batch, padded to four lanes, whose rows are written into a paged cache by a slot
/// mapping; with host kernels only.
class PagedStep : public Step {
 public:
  enum class Bug {
    kNone,
    kCountByValue,     ///< the number of live tokens is passed by value, as it was at capture
    kIdle,             ///< run() does nothing
    kThrow,            ///< run() of step 1 throws
    kNoPages,          ///< a cache without pages is declared
    kShortBatch,       ///< fewer positions than slots
    kBreak,            ///< sound: the write runs eagerly, between the segments of a graph
    kNestedBreak,      ///< sound: and within another op that runs eagerly
    kBreakThrows,      ///< the op that runs eagerly throws
    kOutput,           ///< the output alone is wrong, by a factor passed by value
    kPadWrites,        ///< pad lanes write the last row
    kPadWritesSink,    ///< sound: they do, and the last row is declared as a sink
    kEagerWritesSink,  ///< sound: so does a run with a live batch, which no graph is
    kFewerOutputs,     ///< the graph's arms declare an output less
    kOutputsSwapped,   ///< they declare the outputs in another order
    kRestlessSink      ///< sound: the sink holds a number that no two runs share
  };

  explicit PagedStep(Bug bug = Bug::kNone) : bug_{bug} {}

  void set_up(Host& host) override {
    cache_ = host.allocate<float>("cache", kRows * kDim);
    rows_ = host.allocate<float>("rows", kBucket * kDim);
    slots_ = host.allocate<std::int64_t>("slots", kBucket);
    sums_ = host.allocate<float>("sums", kBucket);
    ++set_ups_;
  }

  Description describe() override {
    Cache key;
    key.name = "key";
    key.dtype = DType::kF32;
    key.pages = bug_ == Bug::kNoPages ? 0 : kPages;
    key.page_size = kPageSize;
    key.dim = kDim;
    key.data = cache_;
    if (bug_ == Bug::kPadWritesSink || bug_ == Bug::kEagerWritesSink ||
        bug_ == Bug::kRestlessSink) {
      key.sinks = {{kRows - 1, kRows}};
    }
    Description description;
    description.name = "paged step";
    description.steps = 4;
    description.caches = {key};
    return description;
  }

  Batch batch(int step) override {
    Batch batch;
    for (int i = 0; i < kTokens; ++i) batch.slots.push_back(slot_of(step, i));
    batch.bucket = kBucket;
    if (bug_ == Bug::kShortBatch) batch.positions = {1, 2};
    return batch;
  }

  void prepare(const Call& call) override {
    std::array<float, kTokens * kDim> rows{};
    std::array<std::int64_t, kBucket> slots{};
    for (int i = 0; i < kBucket; ++i) {
      slots[i] = call.live() && i < kTokens ? slot_of(call.step, i) : -1;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = static_cast<float>(100 * (call.step + 2)) + static_cast<float>(i);
    }
    host().copy(call.stream, rows_, rows.data(), sizeof(rows));
    host().copy(call.stream, slots_, slots.data(), sizeof(slots));
    host().synchronize(call.stream);
  }

  void run(const Call& call) override {
    if (bug_ == Bug::kIdle) return;
    if (bug_ == Bug::kThrow && call.step == 1) throw std::runtime_error{"sequence 2 is lost"};
    const int lanes = bug_ == Bug::kCountByValue && !call.live() ? 1 : call.lanes();
    const auto write = [this, lanes](void* stream) {
      host().label(stream, "paged_step.hpp: write");
      const bool pads = bug_ == Bug::kPadWrites || bug_ == Bug::kPadWritesSink;
      const std::int64_t pad_row = pads ? kRows - 1 : -1;
      host().launch<&write_rows>(stream, "write_rows", {cache_, rows_, slots_, lanes, pad_row});
    };
    if (bug_ == Bug::kBreak) return host().run_eagerly(call.stream, "write", write);
    if (bug_ == Bug::kNestedBreak) {
      return host().run_eagerly(call.stream, "outer", [this, write](void* stream) {
        host().run_eagerly(stream, "write", write);
      });
    }
    if (bug_ == Bug::kBreakThrows) {
      return host().run_eagerly(call.stream, "write",
                                [](void*) { throw std::runtime_error{"no such page"}; });
    }
    write(call.stream);
    if (bug_ == Bug::kEagerWritesSink && call.live()) host().fill(call.stream, sink(), 1, 4);
    if (bug_ == Bug::kRestlessSink) {
      host().fill(call.stream, sink(), static_cast<std::uint8_t>(++runs_), 4);
    }
    const double factor = bug_ == Bug::kOutput && !call.live() ? 2 : 1;
    host().label(call.stream, "paged_step.hpp: sum");
    host().launch<&sum_rows>(call.stream, "sum_rows",
                             {sums_, cache_, slots_, factor, call.lanes()});
  }

  void reset(void* /*stream*/) override { ++resets_; }

  /// Row 5 of page 3, which no batch names.
  void history(void* stream) override {
    const std::vector<float> row(kDim, 7.0F);
    host().copy(stream, cache_ + (3 * kPageSize + 5) * kDim, row.data(), kDim * sizeof(float));
    host().synchronize(stream);
    ++histories_;
  }

  std::vector<Output> outputs(const Call& call) override {
    Output sums;
    sums.name = "sums";
    sums.dtype = DType::kF32;
    sums.dim = 1;
    sums.data = sums_;
    if (bug_ != Bug::kFewerOutputs && bug_ != Bug::kOutputsSwapped) return {sums};
    Output again = sums;
    again.name = "sums again";
    const bool graph = call.arm != Arm::kEager;
    if (bug_ == Bug::kOutputsSwapped) {
      return graph ? std::vector{again, sums} : std::vector{sums, again};
    }
    return graph ? std::vector{sums} : std::vector{sums, again};
  }

  std::vector<Input> inputs(const Call&) override {
    Input rows;
    rows.name = "rows";
    rows.data = rows_;
    rows.lane_bytes = kDim * sizeof(float);
    rows.dtype = DType::kF32;
    rows.is_activation = true;
    Input slots;
    slots.name = "slot mapping";
    slots.data = slots_;
    slots.lane_bytes = sizeof(std::int64_t);
    return {rows, slots};
  }

  [[nodiscard]] int set_ups() const { return set_ups_; }
  [[nodiscard]] int resets() const { return resets_; }
  [[nodiscard]] int histories() const { return histories_; }

 private:
  static constexpr int kTokens = 3;
  static constexpr int kBucket = 4;
  static constexpr int kPages = 4;
  static constexpr int kPageSize = 16;
  static constexpr int kDim = 16;
  static constexpr int kRows = kPages * kPageSize;

  struct WriteArguments {
    float* cache;
    const float* rows;
    const std::int64_t* slots;
    std::int64_t lanes;
    std::int64_t pad_row;  // where pad lanes write; negative: nowhere
    static std::vector<Field> fields() {
      return {GRAPHSAN_FIELD(WriteArguments, cache), GRAPHSAN_FIELD(WriteArguments, rows),
              GRAPHSAN_FIELD(WriteArguments, slots), GRAPHSAN_FIELD(WriteArguments, lanes),
              GRAPHSAN_FIELD(WriteArguments, pad_row)};
    }
  };

  /// Without names for its fields.
  struct SumArguments {
    float* sums;
    const float* cache;
    const std::int64_t* slots;
    double factor;  // as wide as its neighbours: padding would hold anything
    std::int64_t lanes;
  };

  static void write_rows(const WriteArguments& args) {
    for (std::int64_t lane = 0; lane < args.lanes; ++lane) {
      const std::int64_t row = args.slots[lane] < 0 ? args.pad_row : args.slots[lane];
      if (row < 0) continue;
      for (int d = 0; d < kDim; ++d) args.cache[row * kDim + d] = args.rows[lane * kDim + d];
    }
  }

  static void sum_rows(const SumArguments& args) {
    for (std::int64_t lane = 0; lane < args.lanes; ++lane) {
      float sum = 0;
      for (int d = 0; d < kDim && args.slots[lane] >= 0; ++d) {
        sum += args.cache[args.slots[lane] * kDim + d];
      }
      args.sums[lane] = static_cast<float>(args.factor * sum);
    }
  }

  [[nodiscard]] float* sink() const { return cache_ + (kRows - 1) * kDim; }

  static std::int64_t slot_of(int step, int lane) { return lane * kPageSize + step; }

  Bug bug_;
  float* cache_ = nullptr;         // [kRows][kDim]
  float* rows_ = nullptr;          // [kBucket][kDim]
  std::int64_t* slots_ = nullptr;  // [kBucket]
  float* sums_ = nullptr;          // [kBucket]
  int set_ups_ = 0;
  int resets_ = 0;
  int histories_ = 0;
  int runs_ = 0;
};

}  // namespace graphsan::test
