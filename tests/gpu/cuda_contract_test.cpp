#include "device/cuda/cuda_device.hpp"
#include "tests/support/device_contract_capture.hpp"
#include "tests/support/device_contract_forks.hpp"
#include "tests/support/device_contract_graphs.hpp"
#include "tests/support/device_contract_streams.hpp"

namespace graphsan::test {
namespace {

std::unique_ptr<device::Device> open_cuda_device() {
  if (!device::cuda_availability().available) return nullptr;
  return device::make_cuda_device(0);
}

INSTANTIATE_TEST_SUITE_P(Cuda, DeviceContract,
                         ::testing::Values(DeviceUnderTest{"cuda", &open_cuda_device}),
                         [](const auto& device) { return device.param.name; });

}  // namespace
}  // namespace graphsan::test
