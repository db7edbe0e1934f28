#pragma once

#include <algorithm>
#include <cstdint>

#include "device/kernel.hpp"

namespace graphsan::step::minimax_m3 {

inline constexpr std::uint32_t kThreads = 128;

/// One thread block a lane.
[[nodiscard]] inline device::LaunchDims lane_dims(std::int32_t tokens, std::uint32_t y = 1,
                                                  std::uint32_t z = 1) {
  return {.grid = {static_cast<std::uint32_t>(tokens), y, z}, .block = {kThreads, 1, 1}};
}

/// Enough blocks for a grid-stride loop over `count` elements.
[[nodiscard]] inline device::LaunchDims element_dims(std::int64_t count) {
  const std::int64_t blocks = std::clamp<std::int64_t>((count + 1023) / 1024, 1, 8192);
  return {.grid = {static_cast<std::uint32_t>(blocks), 1, 1}, .block = {kThreads, 1, 1}};
}

/// Lanes that a launch covers: a host function does what the grid would, so a grid left over from a
/// smaller batch leaves lanes out on both devices.
[[nodiscard]] inline std::int32_t covered_lanes(const device::LaunchDims& dims,
                                                std::int32_t tokens) {
  return std::min(tokens, static_cast<std::int32_t>(dims.grid.x));
}

}  // namespace graphsan::step::minimax_m3
