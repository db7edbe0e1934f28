#include <fmt/format.h>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device_impl.hpp"
#include "device/cuda/native.hpp"
#include "device/cuda/version_text.hpp"

namespace graphsan::device {
namespace {

DeviceProperties read_properties(int ordinal) {
  cudaDeviceProp found{};
  GRAPHSAN_CUDA_CHECK(cudaGetDeviceProperties(&found, ordinal));
  int driver = 0;
  int runtime = 0;
  GRAPHSAN_CUDA_CHECK(cudaDriverGetVersion(&driver));
  GRAPHSAN_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  DeviceProperties properties;
  properties.kind = DeviceKind::kCuda;
  properties.name = found.name;
  properties.compute_major = found.major;
  properties.compute_minor = found.minor;
  properties.total_memory = found.totalGlobalMem;
  properties.driver_version = version_text(driver);
  properties.runtime_version = version_text(runtime);
  properties.native_fp8 = found.major > 8 || (found.major == 8 && found.minor >= 9);
  return properties;
}

dim3 to_cuda(const Dim3& extent) { return dim3{extent.x, extent.y, extent.z}; }

}  // namespace

CudaDevice::CudaDevice(int ordinal) : ordinal_{ordinal} {
  GRAPHSAN_CUDA_CHECK(cudaSetDevice(ordinal));
  driver_ = load_driver_api();
  properties_ = read_properties(ordinal);
}

CudaDevice::~CudaDevice() { release_kept(); }

void CudaDevice::make_current() const {
  int current = -1;
  GRAPHSAN_CUDA_CHECK(cudaGetDevice(&current));
  if (current != ordinal_) GRAPHSAN_CUDA_CHECK(cudaSetDevice(ordinal_));
}

std::size_t CudaDevice::free_memory() const {
  make_current();
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  GRAPHSAN_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  return free_bytes;
}

void* CudaDevice::allocate(std::size_t bytes, MemoryKind kind) {
  make_current();
  void* address = nullptr;
  const std::size_t at_least_one = bytes == 0 ? 1 : bytes;
  switch (kind) {
    case MemoryKind::kDevice:
      GRAPHSAN_CUDA_CHECK(cudaMalloc(&address, at_least_one));
      break;
    case MemoryKind::kPinnedHost:
      GRAPHSAN_CUDA_CHECK(cudaMallocHost(&address, at_least_one));
      break;
  }
  allocations_.emplace(address, kind);
  return address;
}

bool CudaDevice::release(void* address, MemoryKind kind) const noexcept {
  const cudaError_t code = kind == MemoryKind::kDevice ? cudaFree(address) : cudaFreeHost(address);
  ignore_failure(code);
  const ErrorKind why = error_kind(code);
  return why != ErrorKind::kCaptureRefused && why != ErrorKind::kCaptureInvalidated;
}

void CudaDevice::free(void* address) noexcept {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  const MemoryKind kind = found->second;
  allocations_.erase(found);
  if (!release(address, kind)) kept_.push_back(Kept{address, kind});
}

void CudaDevice::release_kept() noexcept {
  std::erase_if(kept_, [this](const Kept& kept) { return release(kept.address, kept.kind); });
}

Stream CudaDevice::create_stream() {
  make_current();
  cudaStream_t stream = nullptr;
  GRAPHSAN_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream{*this, StreamRef{stream}};
}

void CudaDevice::synchronize(StreamRef stream) {
  make_current();
  GRAPHSAN_CUDA_CHECK(cudaStreamSynchronize(native(stream)));
}

Event CudaDevice::create_event() {
  make_current();
  cudaEvent_t event = nullptr;
  GRAPHSAN_CUDA_CHECK(cudaEventCreate(&event));
  return Event{*this, EventRef{event}};
}

void CudaDevice::record(EventRef event, StreamRef stream) {
  make_current();
  GRAPHSAN_CUDA_CHECK(cudaEventRecord(native(event), native(stream)));
}

void CudaDevice::wait(StreamRef stream, EventRef event) {
  make_current();
  GRAPHSAN_CUDA_CHECK(cudaStreamWaitEvent(native(stream), native(event), cudaEventWaitDefault));
}

double CudaDevice::elapsed_ms(EventRef begin, EventRef end) {
  float milliseconds = 0;
  GRAPHSAN_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, native(begin), native(end)));
  return milliseconds;
}

bool CudaDevice::captures(StreamRef stream) const noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ignore_failure(cudaStreamIsCapturing(native(stream), &status));
  return status == cudaStreamCaptureStatusActive;
}

void CudaDevice::launch(StreamRef stream, const Kernel& kernel, const LaunchDims& dims,
                        const void* arguments) {
  make_current();
  if (kernel.cuda_symbol == nullptr) {
    throw DeviceError{ErrorKind::kNotSupported,
                      fmt::format("kernel {} has no CUDA form", kernel.name)};
  }
  const bool captured = has_listener() && captures(stream);
  void* parameters[] = {const_cast<void*>(arguments)};
  GRAPHSAN_CUDA_CHECK(cudaLaunchKernel(kernel.cuda_symbol, to_cuda(dims.grid), to_cuda(dims.block),
                                       parameters, dims.shared_bytes, native(stream)));
  if (!has_listener()) return;
  WorkRecord record;
  record.name = kernel.name;
  record.kernel = &kernel;
  record.dims = dims;
  const auto* bytes = static_cast<const std::byte*>(arguments);
  record.arguments.assign(bytes, bytes + kernel.argument_bytes);
  record.captured = captured;
  record.during_capture = open_captures_ != 0;
  notify(std::move(record));
}

void CudaDevice::copy(StreamRef stream, void* destination, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  make_current();
  const bool captured = (has_listener() || waits_for_copies()) && captures(stream);
  GRAPHSAN_CUDA_CHECK(
      cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, native(stream)));
  if (waits_for_copies() && !captured) GRAPHSAN_CUDA_CHECK(cudaStreamSynchronize(native(stream)));
  if (!has_listener()) return;
  WorkRecord record;
  record.kind = NodeKind::kCopy;
  record.name = "memcpy";
  record.copy = CopyParams{destination, source, bytes};
  record.captured = captured;
  record.during_capture = open_captures_ != 0;
  notify(std::move(record));
}

void CudaDevice::fill(StreamRef stream, void* destination, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return;
  make_current();
  const bool captured = has_listener() && captures(stream);
  GRAPHSAN_CUDA_CHECK(cudaMemsetAsync(destination, value, bytes, native(stream)));
  if (!has_listener()) return;
  WorkRecord record;
  record.kind = NodeKind::kFill;
  record.name = "memset";
  record.fill = FillParams{destination, bytes, value};
  record.captured = captured;
  record.during_capture = open_captures_ != 0;
  notify(std::move(record));
}

void CudaDevice::destroy(StreamRef stream) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ignore_failure(cudaStreamIsCapturing(native(stream), &status));
  if (status != cudaStreamCaptureStatusNone) {
    cudaGraph_t abandoned = nullptr;
    ignore_failure(cudaStreamEndCapture(native(stream), &abandoned));
    if (abandoned != nullptr) ignore_failure(cudaGraphDestroy(abandoned));
    release_kept();
    --open_captures_;
  }
  ignore_failure(cudaStreamDestroy(native(stream)));
}

Owner CudaDevice::memory_kind(const void* address) const {
  make_current();
  cudaPointerAttributes attributes{};
  if (address == nullptr || cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    ignore_failure(cudaGetLastError());
    return Owner::kUnknown;
  }
  switch (attributes.type) {
    case cudaMemoryTypeDevice:
    case cudaMemoryTypeManaged:
      return Owner::kOtherAllocation;
    case cudaMemoryTypeHost:
      return Owner::kHostPinned;
    case cudaMemoryTypeUnregistered:
      return Owner::kHostPageable;
  }
  return Owner::kUnknown;
}

void CudaDevice::destroy(EventRef event) noexcept {
  ignore_failure(cudaEventDestroy(native(event)));
}

}  // namespace graphsan::device
