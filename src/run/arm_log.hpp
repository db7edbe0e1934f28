#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "device/address_map.hpp"
#include "device/node.hpp"
#include "kvcache/row_pack.hpp"
#include "model/facts.hpp"
#include "step/step.hpp"

namespace graphsan::run {

/// Bytes that one arm left in one output or top-k buffer: one row a real lane.
struct OutputRows {
  model::CacheLayout layout;
  std::vector<std::vector<std::byte>> lanes;
  bool nonce_overwritten = false;  ///< no lane still holds the nonce placed before the step
};

/// One input as it was when the step ran.
struct InputLog {
  step::InputView view;
  std::uint64_t digest = 0;      ///< of the real lanes
  std::vector<std::byte> bytes;  ///< all lanes of the view, packed
  /// Bytes of one lane.
  [[nodiscard]] std::span<const std::byte> lane(std::size_t lane) const {
    const auto size = static_cast<std::size_t>(view.lane_bytes);
    return std::span{bytes}.subspan(lane * size, size);
  }
};

/// One opaque buffer as it was just before the step ran.
struct OpaqueLog {
  step::OpaqueView view;
  std::vector<std::byte> bytes;
};

/// What one arm did in one step. Rows are global numbers of the step's CacheSet, sorted.
struct StepLog {
  int step = 0;
  std::vector<std::int64_t> expected;         ///< X
  std::vector<std::int64_t> changed;          ///< E, P or G
  std::vector<model::Digest> digests;         ///< of `changed`, after the step
  std::vector<std::vector<std::byte>> bytes;  ///< of `changed`, after the step
  kvcache::RowPack redo;                      ///< `changed` on the device; eager arm only
  std::vector<OutputRows> outputs;
  std::vector<step::ReferenceSelection> selections;  ///< one a sparse layer; where asked for
  /// Reference attention on this arm's caches and selection, by layer; where asked for.
  std::map<int, std::vector<std::vector<std::byte>>> attended;
  /// Bytes that each lane, pads included, would write into a cache with stray rows, by cache.
  std::map<int, std::vector<std::vector<std::byte>>> lane_rows;
  std::vector<device::WorkRecord> work;  ///< issued while the step ran
  /// What a copy of `work` from host memory found there when it was issued, by index.
  std::map<std::size_t, std::vector<std::byte>> copied;
  std::vector<InputLog> inputs;
  std::vector<OpaqueLog> opaque;
  double milliseconds = 0;  ///< device time of the step

  /// Index of a row in `changed`, or -1.
  [[nodiscard]] std::ptrdiff_t find(std::int64_t global_row) const;

  /// The output that has this one's name, kind and layer, or null.
  [[nodiscard]] const OutputRows* find_output(const model::CacheLayout& output) const;

  /// Reference attention for one lane of an output, or null where there is none or where the output
  /// has rows of another size and so holds something else.
  [[nodiscard]] const std::vector<std::byte>* attended_lane(const OutputRows& output,
                                                            std::size_t lane) const;
};

struct ArmLog {
  step::Arm arm = step::Arm::kEager;
  std::vector<StepLog> steps;
  device::AddressMap addresses;  ///< who owned what when an eager pass ended
};

/// Seed of the pattern put into the rows to be written before a step; the same in every arm.
[[nodiscard]] std::uint64_t row_pattern_seed(int step);

/// Global rows that the slot mapping of a step names, in every cache it writes: K, V and the like
/// by `slot`, index-K by `index_slot`; guard zones never. Sorted.
[[nodiscard]] std::vector<std::int64_t> expected_rows(const kvcache::CacheSet& caches,
                                                      const model::StepFacts& step);

}  // namespace graphsan::run
