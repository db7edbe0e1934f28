// A step under test; README.md says what to edit.
#include <graphsan/plugin.hpp>
#include <graphsan/step.hpp>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

constexpr int kTokens = 3;  // real lanes of a batch
constexpr int kBucket = 4;  // lanes of the graph that serves it
constexpr int kPages = 4;
constexpr int kPageSize = 16;
constexpr int kDim = 64;

// The kernel's arguments. They are copied when it is launched, and a captured launch keeps the
// copy.
struct WriteArguments {
  float* cache;               // [kPages * kPageSize][kDim]
  const float* rows;          // [lanes][kDim]
  const std::int64_t* slots;  // [lanes]; negative: a pad lane
  std::int64_t lanes;

  static std::vector<graphsan::Field> fields() {
    return {GRAPHSAN_FIELD(WriteArguments, cache), GRAPHSAN_FIELD(WriteArguments, rows),
            GRAPHSAN_FIELD(WriteArguments, slots), GRAPHSAN_FIELD(WriteArguments, lanes)};
  }
};

void write_rows(const WriteArguments& args) {
  for (std::int64_t lane = 0; lane < args.lanes; ++lane) {
    if (args.slots[lane] < 0) continue;
    for (int d = 0; d < kDim; ++d) {
      args.cache[args.slots[lane] * kDim + d] = args.rows[lane * kDim + d];
    }
  }
}

class MyStep : public graphsan::Step {
 public:
  void set_up(graphsan::Host& host) override {
    cache_ = host.allocate<float>("key cache", kPages * kPageSize * kDim);
    rows_ = host.allocate<float>("key rows", kBucket * kDim);
    slots_ = host.allocate<std::int64_t>("slot mapping", kBucket);
  }

  graphsan::Description describe() override {
    graphsan::Cache key;
    key.name = "key";
    key.dtype = graphsan::DType::kF32;
    key.pages = kPages;
    key.page_size = kPageSize;
    key.dim = kDim;
    key.data = cache_;
    graphsan::Description description;
    description.name = "my step";
    description.steps = 4;
    description.caches = {key};
    return description;
  }

  graphsan::Batch batch(int step) override {
    graphsan::Batch batch;
    for (int i = 0; i < kTokens; ++i) batch.slots.push_back(slot_of(step, i));
    batch.bucket = kBucket;
    return batch;
  }

  // Pad lanes get slot -1. A call that is not live has a dummy batch: pad lanes alone.
  void prepare(const graphsan::Call& call) override {
    std::array<std::int64_t, kBucket> slots{};
    for (int i = 0; i < kBucket; ++i) {
      slots[i] = call.live() && i < kTokens ? slot_of(call.step, i) : -1;
    }
    std::array<float, kTokens * kDim> rows{};
    for (int i = 0; i < kTokens * kDim; ++i) {
      rows[i] = static_cast<float>(100 * (call.step + 2) + i);
    }
    host().copy(call.stream, slots_, slots.data(), sizeof(slots));
    host().copy(call.stream, rows_, rows.data(), sizeof(rows));
    host().synchronize(call.stream);
  }

  void run(const graphsan::Call& call) override {
    if (host().is_cuda()) {
      throw std::runtime_error{"no CUDA kernel yet: launch it here, or use --device host"};
    }
    int lanes = call.lanes();
    if (host().options() == "count") lanes = call.live() ? kTokens : 0;
    host().label(call.stream, GRAPHSAN_HERE);
    host().launch<&write_rows>(call.stream, "write_rows", {cache_, rows_, slots_, lanes});
  }

  // Naming inputs tells a moved or stale buffer from a missing write.
  std::vector<graphsan::Input> inputs(const graphsan::Call&) override {
    graphsan::Input rows;
    rows.name = "key rows";
    rows.data = rows_;
    rows.lane_bytes = kDim * sizeof(float);
    rows.dtype = graphsan::DType::kF32;
    rows.is_activation = true;
    graphsan::Input slots;
    slots.name = "slot mapping";
    slots.data = slots_;
    slots.lane_bytes = sizeof(std::int64_t);
    return {rows, slots};
  }

 private:
  // Sequence i grows in page i.
  static std::int64_t slot_of(int step, int sequence) { return sequence * kPageSize + step; }

  float* cache_ = nullptr;
  float* rows_ = nullptr;
  std::int64_t* slots_ = nullptr;
};

}  // namespace

GRAPHSAN_PLUGIN(MyStep)
