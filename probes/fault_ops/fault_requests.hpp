#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "step/minimax_m3/fill_float.hpp"
#include "step/minimax_m3/step_program.hpp"

namespace graphsan::faults {

/// Free blocks of the general pool that `bytes` bytes fit exactly; those that are kept from being
/// handed out count too.
[[nodiscard]] inline std::size_t free_blocks_of(const device::CachingAllocator& allocator,
                                                std::size_t bytes) {
  constexpr std::size_t kGranule = 512;
  const std::size_t size = (bytes + kGranule - 1) / kGranule * kGranule;
  const std::vector<device::Block> blocks = allocator.snapshot();
  return static_cast<std::size_t>(
      std::count_if(blocks.begin(), blocks.end(), [&](const device::Block& block) {
        return !block.live && block.pool.value == 0 && block.bytes == size;
      }));
}

/// Tensors of the requests that a server works on, from the framework's general pool: whoever kept
/// a pointer to a freed block of their size finds their values there.
class Requests {
 public:
  /// Takes every free block that `bytes` bytes fit exactly, and one at least, and fills each with
  /// `value`. What is held already stays as it is.
  void serve(const step::minimax_m3::RefillContext& context, std::size_t bytes, float value) {
    if (!held_.empty()) return;
    device::CachingAllocator& allocator = context.shared.allocator;
    const std::size_t wanted = std::clamp<std::size_t>(free_blocks_of(allocator, bytes), 1, kMost);
    for (std::size_t i = 0; i < wanted; ++i) {
      held_.push_back(std::make_unique<device::Temporary>(allocator, bytes));
      step::minimax_m3::launch_fill_float(
          context.shared.device, context.stream,
          {held_.back()->as<float>(), static_cast<std::int32_t>(bytes / sizeof(float)), value});
    }
  }

  /// Gives all of them back.
  void finish() { held_.clear(); }

 private:
  static constexpr std::size_t kMost = 64;

  std::vector<std::unique_ptr<device::Temporary>> held_;
};

}  // namespace graphsan::faults
