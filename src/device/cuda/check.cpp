#include "device/cuda/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace graphsan::device {
namespace {

struct KindOfCode {
  cudaError_t code;
  ErrorKind kind;
};

constexpr std::array kKinds{
    KindOfCode{cudaErrorMemoryAllocation, ErrorKind::kOutOfMemory},
    KindOfCode{cudaErrorStreamCaptureUnsupported, ErrorKind::kCaptureRefused},
    KindOfCode{cudaErrorStreamCaptureMerge, ErrorKind::kCaptureRefused},
    KindOfCode{cudaErrorStreamCaptureUnmatched, ErrorKind::kCaptureRefused},
    KindOfCode{cudaErrorStreamCaptureIsolation, ErrorKind::kCaptureRefused},
    KindOfCode{cudaErrorStreamCaptureImplicit, ErrorKind::kCaptureRefused},
    KindOfCode{cudaErrorCapturedEvent, ErrorKind::kCaptureRefused},
    KindOfCode{cudaErrorStreamCaptureWrongThread, ErrorKind::kCaptureRefused},
    KindOfCode{cudaErrorStreamCaptureInvalidated, ErrorKind::kCaptureInvalidated},
    KindOfCode{cudaErrorStreamCaptureUnjoined, ErrorKind::kCaptureInvalidated},
    KindOfCode{cudaErrorIllegalAddress, ErrorKind::kSticky},
    KindOfCode{cudaErrorLaunchTimeout, ErrorKind::kSticky},
    KindOfCode{cudaErrorContextIsDestroyed, ErrorKind::kSticky},
    KindOfCode{cudaErrorAssert, ErrorKind::kSticky},
    KindOfCode{cudaErrorHardwareStackError, ErrorKind::kSticky},
    KindOfCode{cudaErrorIllegalInstruction, ErrorKind::kSticky},
    KindOfCode{cudaErrorMisalignedAddress, ErrorKind::kSticky},
    KindOfCode{cudaErrorInvalidAddressSpace, ErrorKind::kSticky},
    KindOfCode{cudaErrorInvalidPc, ErrorKind::kSticky},
    KindOfCode{cudaErrorLaunchFailure, ErrorKind::kSticky},
    KindOfCode{cudaErrorTensorMemoryLeak, ErrorKind::kSticky},
    KindOfCode{cudaErrorECCUncorrectable, ErrorKind::kSticky},
    KindOfCode{cudaErrorNvlinkUncorrectable, ErrorKind::kSticky},
    KindOfCode{cudaErrorContained, ErrorKind::kSticky},
    KindOfCode{cudaErrorExternalDevice, ErrorKind::kSticky},
    KindOfCode{cudaErrorMpsClientTerminated, ErrorKind::kSticky},
    KindOfCode{cudaErrorNoDevice, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorInvalidDevice, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorInsufficientDriver, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorCallRequiresNewerDriver, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorStubLibrary, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorInitializationError, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorDevicesUnavailable, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorSystemNotReady, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorSystemDriverMismatch, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorCompatNotSupportedOnDevice, ErrorKind::kNoDevice},
    KindOfCode{cudaErrorNotSupported, ErrorKind::kNotSupported},
    KindOfCode{cudaErrorNotPermitted, ErrorKind::kNotSupported},
    KindOfCode{cudaErrorGraphExecUpdateFailure, ErrorKind::kNotSupported},
    KindOfCode{cudaErrorInvalidDeviceFunction, ErrorKind::kNotSupported},
    KindOfCode{cudaErrorNoKernelImageForDevice, ErrorKind::kNotSupported},
    KindOfCode{cudaErrorUnsupportedPtxVersion, ErrorKind::kNotSupported},
    KindOfCode{cudaErrorInvalidValue, ErrorKind::kInvalidArgument},
    KindOfCode{cudaErrorInvalidConfiguration, ErrorKind::kInvalidArgument},
    KindOfCode{cudaErrorInvalidHostPointer, ErrorKind::kInvalidArgument},
    KindOfCode{cudaErrorInvalidDevicePointer, ErrorKind::kInvalidArgument},
    KindOfCode{cudaErrorInvalidMemcpyDirection, ErrorKind::kInvalidArgument},
    KindOfCode{cudaErrorInvalidResourceHandle, ErrorKind::kInvalidArgument},
    KindOfCode{cudaErrorIllegalState, ErrorKind::kInvalidArgument},
    KindOfCode{cudaErrorNotReady, ErrorKind::kInvalidArgument},
    KindOfCode{cudaErrorLaunchOutOfResources, ErrorKind::kInvalidArgument},
};

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

CudaError::CudaError(cudaError_t code, const std::string& what)
    : DeviceError{error_kind(code), what}, code_{code} {}

ErrorKind error_kind(cudaError_t code) noexcept {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [code](const KindOfCode& entry) { return entry.code == code; });
  return found == kKinds.end() ? ErrorKind::kOther : found->kind;
}

void throw_cuda_error(cudaError_t code, const char* call, const char* file, int line) {
  throw CudaError{code, fmt::format("{} ({}): {} [{}:{}]", cudaGetErrorString(code),
                                    cudaGetErrorName(code), call, file_name(file), line)};
}

}  // namespace graphsan::device
