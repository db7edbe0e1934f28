#pragma once

#include <cstdint>
#include <vector>

namespace graphsan::test {

/// What a sweep over floats found: conversions by instruction and in software that differ.
struct Fp8Sweep {
  std::uint64_t compared = 0;
  std::uint64_t mismatches = 0;
  std::uint32_t first_mismatch = 0xFFFFFFFFU;  ///< bits of the lowest float that differs
};

/// Compares native and software encoding of every float on the current device. `e5m2` chooses the
/// format. Throws CudaError.
[[nodiscard]] Fp8Sweep sweep_all_floats(bool e5m2);

/// Codes that the instruction gives for `bits`, for comparison with the host's.
[[nodiscard]] std::vector<std::uint8_t> encode_on_device(const std::vector<std::uint32_t>& bits,
                                                         bool e5m2);

}  // namespace graphsan::test
