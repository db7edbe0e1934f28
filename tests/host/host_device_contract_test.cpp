#include "tests/support/device_contract_capture.hpp"
#include "tests/support/device_contract_forks.hpp"
#include "tests/support/device_contract_graphs.hpp"
#include "tests/support/device_contract_streams.hpp"
#include "tests/support/host_device_test.hpp"

namespace graphsan::test {

INSTANTIATE_TEST_SUITE_P(Host, DeviceContract, ::testing::Values(host_device_under_test()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace graphsan::test
