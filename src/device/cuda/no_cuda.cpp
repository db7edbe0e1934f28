#include "device/cuda/cuda_device.hpp"

namespace graphsan::device {

CudaAvailability cuda_availability() {
  return CudaAvailability{false, "this build has no CUDA support",
                          "install the CUDA toolkit and configure again, or use the host device"};
}

std::unique_ptr<Device> make_cuda_device(int /*ordinal*/) {
  const CudaAvailability availability = cuda_availability();
  throw DeviceError{ErrorKind::kNoDevice, availability.reason + "; " + availability.remedy};
}

}  // namespace graphsan::device
