#include "device/cuda/cuda_device.hpp"
#include "tests/support/kvcache_contract_bench.hpp"
#include "tests/support/kvcache_contract_hash.hpp"
#include "tests/support/kvcache_contract_rows.hpp"

namespace graphsan::test {

INSTANTIATE_TEST_SUITE_P(Cuda, KvCacheContract,
                         ::testing::Values(DeviceUnderTest{
                             "cuda", []() -> std::unique_ptr<device::Device> {
                               if (!device::cuda_availability().available) return nullptr;
                               return device::make_cuda_device(0);
                             }}));

}  // namespace graphsan::test
