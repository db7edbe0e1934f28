#include "device/host/host_device.hpp"
#include "tests/support/kvcache_contract_bench.hpp"
#include "tests/support/kvcache_contract_hash.hpp"
#include "tests/support/kvcache_contract_rows.hpp"

namespace graphsan::test {

INSTANTIATE_TEST_SUITE_P(Host, KvCacheContract,
                         ::testing::Values(DeviceUnderTest{
                             "host", [] { return device::make_host_device({}); }}));

}  // namespace graphsan::test
