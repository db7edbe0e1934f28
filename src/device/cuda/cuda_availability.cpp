#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdlib>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/cuda_device_impl.hpp"
#include "device/cuda/native.hpp"
#include "device/cuda/version_text.hpp"

namespace graphsan::device {
namespace {

CudaAvailability unavailable(std::string reason, std::string remedy) {
  return CudaAvailability{false, std::move(reason), std::move(remedy)};
}

CudaAvailability driver_too_old() {
  int driver = 0;
  int runtime = CUDART_VERSION;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  if (driver == 0) {
    return unavailable("no NVIDIA driver was found (libcuda.so.1 does not load)",
                       fmt::format("install a driver for CUDA {} or newer, or use the host device",
                                   version_text(runtime)));
  }
  return unavailable(fmt::format("the NVIDIA driver supports CUDA {}, but this build needs CUDA {}",
                                 version_text(driver), version_text(runtime)),
                     "update the driver, or rebuild with an older CUDA toolkit");
}

CudaAvailability no_device() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) {
    return unavailable("the driver sees no CUDA device",
                       "check that `nvidia-smi` lists a GPU and that this process may open it");
  }
  return unavailable(fmt::format("CUDA_VISIBLE_DEVICES=\"{}\" leaves no CUDA device", visible),
                     "unset CUDA_VISIBLE_DEVICES, or name a device that is there");
}

struct Count {
  int devices = 0;
  cudaError_t code = cudaSuccess;
};

Count count_devices() {
  Count count;
  count.code = cudaGetDeviceCount(&count.devices);
  ignore_failure(count.code);
  return count;
}

}  // namespace

CudaAvailability cuda_availability() {
  const Count count = count_devices();
  if (count.code == cudaSuccess && count.devices > 0) return CudaAvailability{true, {}, {}};
  if (count.code == cudaErrorInsufficientDriver) return driver_too_old();
  if (count.code == cudaErrorNoDevice || count.code == cudaSuccess) return no_device();
  return unavailable(fmt::format("the CUDA driver does not start: {} ({})",
                                 cudaGetErrorString(count.code), cudaGetErrorName(count.code)),
                     "check the driver installation with `nvidia-smi`");
}

int current_cuda_device() {
  int ordinal = 0;
  GRAPHSAN_CUDA_CHECK(cudaGetDevice(&ordinal));
  return ordinal;
}

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  const CudaAvailability availability = cuda_availability();
  if (!availability.available) {
    throw DeviceError{ErrorKind::kNoDevice, availability.reason + "; " + availability.remedy};
  }
  const int devices = count_devices().devices;
  if (ordinal < 0 || ordinal >= devices) {
    throw DeviceError{ErrorKind::kNoDevice,
                      fmt::format("there is no CUDA device {}; {} visible", ordinal, devices)};
  }
  return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace graphsan::device
