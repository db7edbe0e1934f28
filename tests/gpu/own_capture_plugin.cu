// A step that captures itself, as a framework does: on a stream of its own, in two segments with an
// op between them that runs eagerly. Segment 0 writes keys; the op copies the rows; segment 1
// writes values from the copy, and sums each lane's key row.
//
// `--step-options elide` plants a fault into segment 1: values are written only where there is a
// live batch, and a capture has none. "" is the clean twin.
#include <cuda_runtime.h>
#include <graphsan/plugin.hpp>
#include <graphsan/step.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kSteps = 4;
constexpr int kTokens = 3;
constexpr int kBucket = 4;
constexpr int kPages = 4;
constexpr int kPageSize = 16;
constexpr int kDim = 32;
constexpr int kRows = kPages * kPageSize;

/// One block a lane, one thread an element.
__global__ void write_rows(float* cache, const float* rows, const std::int64_t* slots,
                           float factor) {
  const std::int64_t slot = slots[blockIdx.x];
  if (slot < 0) return;
  cache[slot * kDim + threadIdx.x] = factor * rows[blockIdx.x * kDim + threadIdx.x];
}

__global__ void sum_rows(float* sums, const float* cache, const std::int64_t* slots) {
  const std::int64_t slot = slots[blockIdx.x];
  float sum = 0;
  for (int d = 0; d < kDim && slot >= 0; ++d) sum += cache[slot * kDim + d];
  sums[blockIdx.x] = sum;
}

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess)
    throw std::runtime_error{std::string{call} + ": " + cudaGetErrorString(code)};
}

/// The graphs of one capture.
struct Graphs {
  std::vector<cudaGraph_t> graphs;
  std::vector<cudaGraphExec_t> execs;
  Graphs() = default;
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;
  ~Graphs() {
    for (cudaGraphExec_t exec : execs) cudaGraphExecDestroy(exec);
    for (cudaGraph_t graph : graphs) cudaGraphDestroy(graph);
  }
};

class OwnCapture : public graphsan::Step {
 public:
  ~OwnCapture() override {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  void set_up(graphsan::Host& host) override {
    if (!host.is_cuda()) {
      throw std::runtime_error{"this step has CUDA kernels only: run it with --device cuda"};
    }
    elide_ = host.options() == "elide";
    keys_ = host.allocate<float>("keys", kRows * kDim);
    values_ = host.allocate<float>("values", kRows * kDim);
    rows_ = host.allocate<float>("rows", kBucket * kDim);
    slots_ = host.allocate<std::int64_t>("slots", kBucket);
    sums_ = host.allocate<float>("sums", kBucket);
    copied_ = host.allocate<float>("copied rows", kBucket * kDim);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }

  graphsan::Description describe() override {
    graphsan::Cache key;
    key.name = "key";
    key.dtype = graphsan::DType::kF32;
    key.pages = kPages;
    key.page_size = kPageSize;
    key.dim = kDim;
    key.data = keys_;
    graphsan::Cache value = key;
    value.name = "value";
    value.kind = graphsan::CacheKind::kValue;
    value.data = values_;
    graphsan::Description description;
    description.name = "own capture";
    description.steps = kSteps;
    description.caches = {key, value};
    return description;
  }

  graphsan::Batch batch(int step) override {
    graphsan::Batch batch;
    for (int i = 0; i < kTokens; ++i) batch.slots.push_back(i * kPageSize + step);
    batch.bucket = kBucket;
    return batch;
  }

  void prepare(const graphsan::Call& call) override {
    std::array<std::int64_t, kBucket> slots{};
    for (int i = 0; i < kBucket; ++i) {
      slots[i] = call.live() && i < kTokens ? i * kPageSize + call.step : -1;
    }
    std::array<float, kTokens * kDim> rows{};
    for (int i = 0; i < kTokens * kDim; ++i) {
      rows[i] = static_cast<float>(100 * (call.step + 2) + i);
    }
    host().copy(call.stream, rows_, rows.data(), sizeof(rows));
    host().copy(call.stream, slots_, slots.data(), sizeof(slots));
    host().synchronize(call.stream);
  }

  void run(const graphsan::Call& call) override {
    auto* stream = static_cast<cudaStream_t>(call.stream);
    write_keys(call, stream);
    copy_rows(stream);
    write_values(call, stream);
  }

  std::optional<graphsan::OwnCapture> capture(const graphsan::Call& call) override {
    auto graphs = std::make_shared<Graphs>();
    graphsan::OwnCapture own;
    const auto segment = [&](auto&& issue) {
      check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
            "cudaStreamBeginCapture");
      issue();
      cudaGraph_t graph = nullptr;
      check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
      graphs->graphs.push_back(graph);
      cudaGraphExec_t exec = nullptr;
      check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
      graphs->execs.push_back(exec);
      own.segments.push_back({graph, exec, {}, {}});
    };
    segment([&] { write_keys(call, stream_); });
    own.segments.back().eager_name = "copy rows";
    own.segments.back().eager = [this](void* stream) { copy_rows(stream); };
    segment([&] { write_values(call, stream_); });
    own.keep = graphs;
    return own;
  }

  std::vector<graphsan::Input> inputs(const graphsan::Call&) override {
    graphsan::Input rows;
    rows.name = "rows";
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

  std::vector<graphsan::Output> outputs(const graphsan::Call&) override {
    graphsan::Output sums;
    sums.name = "sums";
    sums.dtype = graphsan::DType::kF32;
    sums.dim = 1;
    sums.data = sums_;
    return {sums};
  }

 private:
  void write_keys(const graphsan::Call& call, cudaStream_t stream) {
    host().label(stream, "own_capture: keys");
    write_rows<<<call.lanes(), kDim, 0, stream>>>(keys_, rows_, slots_, 1.0F);
    check(cudaGetLastError(), "write_rows");
  }

  void copy_rows(void* stream) {
    host().label(stream, "own_capture: copy");
    host().copy(stream, copied_, rows_, kBucket * kDim * sizeof(float));
  }

  void write_values(const graphsan::Call& call, cudaStream_t stream) {
    host().label(stream, "own_capture: values");
    if (!elide_ || call.live()) {
      write_rows<<<call.lanes(), kDim, 0, stream>>>(values_, copied_, slots_, 2.0F);
    }
    host().label(stream, "own_capture: sums");
    sum_rows<<<call.lanes(), 1, 0, stream>>>(sums_, keys_, slots_);
    check(cudaGetLastError(), "write_rows, sum_rows");
  }

  bool elide_ = false;
  cudaStream_t stream_ = nullptr;
  float* keys_ = nullptr;          // [kRows][kDim]
  float* values_ = nullptr;        // [kRows][kDim]
  float* rows_ = nullptr;          // [kBucket][kDim]
  std::int64_t* slots_ = nullptr;  // [kBucket]
  float* sums_ = nullptr;          // [kBucket]
  float* copied_ = nullptr;        // [kBucket][kDim], by the op between the segments
};

}  // namespace

GRAPHSAN_PLUGIN(OwnCapture)
