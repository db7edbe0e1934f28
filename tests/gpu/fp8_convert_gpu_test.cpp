#include <bit>
#include <cstdint>
#include <vector>

#include "step/minimax_m3/fp8_convert.hpp"
#include "tests/gpu/fp8_sweep.hpp"
#include "tests/support/gpu_test.hpp"

namespace graphsan::test {
namespace {

using step::minimax_m3::E4M3;
using step::minimax_m3::E5M2;
using step::minimax_m3::encode_fp8;

class Fp8ConvertGpu : public GpuTest {};

TEST_F(Fp8ConvertGpu, InstructionAndSoftwareAgreeOnEveryFloat) {
  for (const bool e5m2 : {false, true}) {
    const Fp8Sweep sweep = sweep_all_floats(e5m2);
    EXPECT_EQ(sweep.compared, std::uint64_t{1} << 32);
    EXPECT_EQ(sweep.mismatches, 0U)
        << (e5m2 ? "e5m2" : "e4m3") << ", first: " << std::hex << sweep.first_mismatch;
  }
}

TEST_F(Fp8ConvertGpu, DeviceAndHostAgreeOnASweepOfFloats) {
  std::vector<std::uint32_t> bits;
  for (std::uint64_t pattern = 0; pattern < (std::uint64_t{1} << 32); pattern += 4099) {
    bits.push_back(static_cast<std::uint32_t>(pattern));
  }
  const auto e4m3 = encode_on_device(bits, false);
  const auto e5m2 = encode_on_device(bits, true);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(e4m3[i], encode_fp8<E4M3>(std::bit_cast<float>(bits[i]))) << std::hex << bits[i];
    ASSERT_EQ(e5m2[i], encode_fp8<E5M2>(std::bit_cast<float>(bits[i]))) << std::hex << bits[i];
  }
}

}  // namespace
}  // namespace graphsan::test
