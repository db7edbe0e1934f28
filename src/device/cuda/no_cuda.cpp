#include "device/cuda/cuda_device.hpp"

namespace graphsan::device {

CudaAvailability cuda_availability() {
  return CudaAvailability{false, "this build has no CUDA support",
                          "install the CUDA toolkit and build again, or use the host device"};
}

namespace {

[[noreturn]] void throw_unavailable() {
  const CudaAvailability availability = cuda_availability();
  throw DeviceError{ErrorKind::kNoDevice, availability.reason + "; " + availability.remedy};
}

}  // namespace

int current_cuda_device() { throw_unavailable(); }

std::unique_ptr<Device> make_cuda_device(int /*ordinal*/) { throw_unavailable(); }

}  // namespace graphsan::device
