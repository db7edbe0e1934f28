// The step of paged_write.c with CUDA kernels: three tokens a batch, padded to four lanes, whose
// rows are written into a paged cache by a slot mapping, and whose output is the sum of the row
// that each slot then names.
//
// `--step-options` plants what goes wrong with such steps:
//   elide   the host code writes only where there is a live batch, and a capture has none
//   wrap    a slot of -1 is taken as the last row
//   stray   the write goes past the end of the cache
//   frozen  the first slot is passed by value, as it was when the graph was captured
//   picky   as frozen, and run() refuses to be captured with a live batch
//   idle    run() does nothing at all
//   sync    run() waits for the device, which a capture forbids
//   fault   the kernel writes to an address that is nobody's, in step 1
//   throw   run() throws an exception in step 1
#include <cuda_runtime.h>
#include <graphsan/plugin.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

constexpr int kSteps = 4;
constexpr int kTokens = 3;
constexpr int kBucket = 4;
constexpr int kPages = 4;
constexpr int kPageSize = 16;
constexpr int kDim = 32;
constexpr int kRows = kPages * kPageSize;

/// One block a lane, one thread an element. `wrap`: rows of the cache, or 0 to skip negative slots;
/// `first`: the slot within each lane's page, or -1 to read the slots.
__global__ void write_rows(float* cache, const float* rows, const int64_t* slots, int64_t offset,
                           int64_t wrap, int first) {
  int64_t slot = slots[blockIdx.x];
  if (first >= 0 && slot >= 0) slot = blockIdx.x * kPageSize + first;
  if (slot < 0) slot += wrap;
  if (slot < 0) return;
  cache[(slot + offset) * kDim + threadIdx.x] = rows[blockIdx.x * kDim + threadIdx.x];
}

__global__ void sum_rows(float* sums, const float* cache, const int64_t* slots) {
  const int64_t slot = slots[blockIdx.x];
  float sum = 0;
  for (int d = 0; d < kDim && slot >= 0; ++d) sum += cache[slot * kDim + d];
  sums[blockIdx.x] = sum;
}

struct Step {
  const graphsan_host* host = nullptr;
  std::string bug;
  float* cache = nullptr;    // [kRows][kDim]
  float* rows = nullptr;     // [kBucket][kDim], refilled for each step
  int64_t* slots = nullptr;  // [kBucket]
  float* sums = nullptr;     // [kBucket]
  std::array<int64_t, kTokens> mapping{};
  graphsan_cache declared{};
  std::array<graphsan_input, 2> inputs{};
  graphsan_output output{};
};

Step& step_of(void* self) { return *static_cast<Step*>(self); }

/// Says which CUDA call failed, and with what.
int report(const Step& step, const char* call, cudaError_t error) {
  if (error == cudaSuccess) return 0;
  step.host->fail(step.host, (std::string{call} + ": " + cudaGetErrorString(error)).c_str());
  return 1;
}

int create(const graphsan_host* host, const char* options, void** made) {
  if (host->is_cuda == 0) {
    host->fail(host, "this example has CUDA kernels only: run it with --device cuda");
    return 1;
  }
  auto step = std::make_unique<Step>();
  step->host = host;
  step->bug = options;
  const auto allocate = [&](const char* name, std::size_t bytes) {
    return host->allocate(host, name, bytes);
  };
  step->cache = static_cast<float*>(allocate("cache", sizeof(float) * kRows * kDim));
  step->rows = static_cast<float*>(allocate("rows", sizeof(float) * kBucket * kDim));
  step->slots = static_cast<int64_t*>(allocate("slots", sizeof(int64_t) * kBucket));
  step->sums = static_cast<float*>(allocate("sums", sizeof(float) * kBucket));
  *made = step.release();
  return 0;
}

void destroy(void* self) { delete static_cast<Step*>(self); }

int describe(void* self, graphsan_description* out) {
  Step& step = step_of(self);
  step.declared.struct_size = sizeof(step.declared);
  step.declared.name = "key";
  step.declared.kind = GRAPHSAN_KEY;
  step.declared.dtype = GRAPHSAN_F32;
  step.declared.pages = kPages;
  step.declared.page_size = kPageSize;
  step.declared.heads = 1;
  step.declared.dim = kDim;
  step.declared.data = step.cache;
  out->name = "paged write";
  out->steps = kSteps;
  out->cache_count = 1;
  out->caches = &step.declared;
  return 0;
}

int batch(void* self, int32_t number, graphsan_batch* out) {
  Step& step = step_of(self);
  for (int i = 0; i < kTokens; ++i) step.mapping[i] = i * kPageSize + number;
  out->tokens = kTokens;
  out->bucket = kBucket;
  out->slots = step.mapping.data();
  return 0;
}

int prepare(void* self, const graphsan_call* call) {
  Step& step = step_of(self);
  std::array<float, kTokens * kDim> rows{};
  std::array<int64_t, kBucket> slots{};
  for (int i = 0; i < kBucket; ++i) {
    slots[i] = call->step >= 0 && i < kTokens ? i * kPageSize + call->step : -1;
  }
  for (int i = 0; i < kTokens * kDim; ++i) {
    rows[i] = static_cast<float>(100 * (call->step + 2) + i);
  }
  auto* stream = static_cast<cudaStream_t>(call->stream);
  const auto upload = [&](void* to, const void* from, std::size_t bytes) {
    return report(step, "cudaMemcpyAsync",
                  cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
  };
  if (upload(step.rows, rows.data(), sizeof(rows)) != 0 ||
      upload(step.slots, slots.data(), sizeof(slots)) != 0) {
    return 1;
  }
  return report(step, "cudaStreamSynchronize", cudaStreamSynchronize(stream));
}

int run(void* self, const graphsan_call* call) {
  Step& step = step_of(self);
  if (step.bug == "idle") return 0;
  if (step.bug == "throw" && call->step == 1) throw std::runtime_error{"no such sequence"};
  if (step.bug == "picky" && call->capturing != 0 && call->step >= 0) {
    step.host->fail(step.host, "this step is captured before any batch");
    return 1;
  }
  const int lanes = call->arm == GRAPHSAN_EAGER ? call->tokens : call->bucket;
  auto* stream = static_cast<cudaStream_t>(call->stream);
  float* cache = step.bug == "fault" && call->step == 1 ? reinterpret_cast<float*>(64) : step.cache;
  step.host->label(step.host, call->stream, "paged_write.cu: write");
  if (step.bug != "elide" || call->metadata == GRAPHSAN_METADATA_LIVE) {
    write_rows<<<lanes, kDim, 0, stream>>>(cache, step.rows, step.slots,
                                           step.bug == "stray" ? kRows - kPageSize : 0,
                                           step.bug == "wrap" ? kRows : 0,
                                           step.bug != "frozen" && step.bug != "picky" ? -1
                                           : call->step < 0                            ? 0
                                                            : call->step);
  }
  if (step.bug == "sync") {
    if (report(step, "cudaDeviceSynchronize", cudaDeviceSynchronize()) != 0) return 1;
  }
  step.host->label(step.host, call->stream, "paged_write.cu: sum");
  sum_rows<<<lanes, 1, 0, stream>>>(step.sums, step.cache, step.slots);
  return report(step, "kernel launch", cudaGetLastError());
}

int inputs(void* self, const graphsan_call*, const graphsan_input** out, int32_t* count) {
  Step& step = step_of(self);
  for (graphsan_input& input : step.inputs) input.struct_size = sizeof(input);
  step.inputs[0].name = "rows";
  step.inputs[0].data = step.rows;
  step.inputs[0].lane_bytes = kDim * sizeof(float);
  step.inputs[0].dtype = GRAPHSAN_F32;
  step.inputs[0].is_activation = 1;
  step.inputs[1].name = "slot mapping";
  step.inputs[1].data = step.slots;
  step.inputs[1].lane_bytes = sizeof(int64_t);
  step.inputs[1].dtype = GRAPHSAN_I64;
  step.inputs[1].pad_value = -1;
  *out = step.inputs.data();
  *count = static_cast<int32_t>(step.inputs.size());
  return 0;
}

int outputs(void* self, const graphsan_call*, const graphsan_output** out, int32_t* count) {
  Step& step = step_of(self);
  step.output.struct_size = sizeof(step.output);
  step.output.name = "sums";
  step.output.kind = GRAPHSAN_OUTPUT;
  step.output.dtype = GRAPHSAN_F32;
  step.output.heads = 1;
  step.output.dim = 1;
  step.output.data = step.sums;
  *out = &step.output;
  *count = 1;
  return 0;
}

}  // namespace

extern "C" const graphsan_plugin_table* graphsan_plugin() {
  static const graphsan_plugin_table table{GRAPHSAN_PLUGIN_ABI,
                                           0,
                                           sizeof(graphsan_plugin_table),
                                           "paged write",
                                           create,
                                           destroy,
                                           describe,
                                           batch,
                                           prepare,
                                           run,
                                           nullptr,
                                           nullptr,
                                           inputs,
                                           outputs,
                                           nullptr,
                                           nullptr};
  return &table;
}
