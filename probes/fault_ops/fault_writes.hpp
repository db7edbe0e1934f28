#pragma once

#include <memory>
#include <string>
#include <utility>

#include "device/caching_allocator.hpp"
#include "probes/fault_ops/fault_planting.hpp"
#include "step/minimax_m3/insert_path.hpp"

namespace graphsan::faults {

/// Explicit slots, a write of its own after norm and rope, for every dtype: where a planted
/// insert() has its place.
[[nodiscard]] std::shared_ptr<const step::minimax_m3::InsertPath> separate_writes(
    step::minimax_m3::Config config);

/// Where K and V of a layer come from and by what they are divided.
struct MainSource {
  const std::uint16_t* key = nullptr;  ///< lane 0; null: in qkv
  std::int64_t key_stride = 0;         ///< elements between lanes
  const float* k_scale = nullptr;      ///< null: 1
  const float* v_scale = nullptr;
};

/// Writes K and V as write_main() does, with another source or scale.
void write_main_from(const step::minimax_m3::InsertContext& context, const std::int64_t* slots,
                     const MainSource& source);

/// Copies `heads` heads of each lane, from `first_head` of a row of qkv, into `packed`.
void pack_heads(const step::minimax_m3::InsertContext& context, std::int32_t first_head,
                std::int32_t heads, std::uint16_t* packed);

/// Writes index-K from [tokens, 128] values; negative slots are skipped.
void write_packed_index(const step::minimax_m3::InsertContext& context, const std::uint16_t* packed,
                        const std::int64_t* slots);

/// The fault and its clean twin as one class, `Program(config, repaired, args...)`.
// NOLINTBEGIN(performance-unnecessary-value-param): they are moved from.
template <typename Program, typename... Args>
[[nodiscard]] PlantedFault fault_and_twin(std::string id, std::string variant,
                                          std::string description, std::string options,
                                          Args... args) {
  // NOLINTEND(performance-unnecessary-value-param)
  return planted<Program>(
      {std::move(id), std::move(variant), std::move(description), std::move(options)}, args...);
}

}  // namespace graphsan::faults
