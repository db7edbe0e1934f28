#include "device/host/host_device.hpp"
#include "tests/support/minimax_m3_ops_launches.hpp"
#include "tests/support/minimax_m3_ops_reads.hpp"
#include "tests/support/minimax_m3_ops_select.hpp"
#include "tests/support/minimax_m3_ops_writes.hpp"

namespace graphsan::test {
namespace {

DeviceUnderTest host() {
  return {"host", [] { return device::make_host_device({}); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Host, MiniMaxM3Launches, ::testing::Values(host()));
INSTANTIATE_TEST_SUITE_P(Host, MiniMaxM3Reads, ::testing::Values(host()));
INSTANTIATE_TEST_SUITE_P(Host, MiniMaxM3Selection, ::testing::Values(host()));
INSTANTIATE_TEST_SUITE_P(Host, MiniMaxM3Writes, ::testing::Values(host()));

}  // namespace graphsan::test
