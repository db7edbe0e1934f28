#include "device/host/host_device.hpp"
#include "tests/support/minimax_m3_golden_reads.hpp"
#include "tests/support/minimax_m3_golden_writes.hpp"

namespace graphsan::test {
namespace {

DeviceUnderTest host() {
  return {"host", [] { return device::make_host_device({}); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Host, MiniMaxM3GoldenWrites, ::testing::Values(host()));
INSTANTIATE_TEST_SUITE_P(Host, MiniMaxM3GoldenReads, ::testing::Values(host()));

}  // namespace graphsan::test
