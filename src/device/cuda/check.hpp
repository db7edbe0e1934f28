#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "device/error.hpp"

namespace graphsan::device {

/// A CUDA call failed. Keeps the code beside the kind that callers of Device decide by.
class CudaError : public DeviceError {
 public:
  CudaError(cudaError_t code, const std::string& what);
  [[nodiscard]] cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

/// What `code` means to a caller of Device; kOther for codes that call for no decision.
[[nodiscard]] ErrorKind error_kind(cudaError_t code) noexcept;

/// Throws CudaError; out of line, so that no .cu file parses a formatting header.
[[noreturn]] void throw_cuda_error(cudaError_t code, const char* call, const char* file, int line);

/// The runtime's code for a driver result. The two enumerations share their numbers since
/// CUDA 10.1.
[[nodiscard]] constexpr cudaError_t to_runtime_error(CUresult result) noexcept {
  return static_cast<cudaError_t>(result);
}

/// Throws CudaError unless `call` succeeds, and clears the error so that no later, innocent call is
/// blamed for it. A macro only because it quotes the call and the line.
#define GRAPHSAN_CUDA_CHECK(call)                                                              \
  do {                                                                                         \
    if (const cudaError_t graphsan_code = (call); graphsan_code != cudaSuccess) [[unlikely]] { \
      static_cast<void>(cudaGetLastError());                                                   \
      ::graphsan::device::throw_cuda_error(graphsan_code, #call, __FILE__, __LINE__);          \
    }                                                                                          \
  } while (false)

/// The same for calls of the driver API, which keep no last error.
#define GRAPHSAN_DRIVER_CHECK(call)                                                               \
  do {                                                                                            \
    if (const CUresult graphsan_result = (call); graphsan_result != CUDA_SUCCESS) [[unlikely]] {  \
      ::graphsan::device::throw_cuda_error(::graphsan::device::to_runtime_error(graphsan_result), \
                                           #call, __FILE__, __LINE__);                            \
    }                                                                                             \
  } while (false)

}  // namespace graphsan::device
