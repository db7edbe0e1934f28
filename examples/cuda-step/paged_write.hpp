// The kernel under test: writes the K and V rows of a batch into a paged bf16 cache, by a slot
// mapping. One body serves the GPU and the host device, so that the test runs where there is no
// GPU.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define PAGED_WRITE_ANYWHERE __host__ __device__
#else
#define PAGED_WRITE_ANYWHERE
#endif

namespace paged_write {

/// A row of K or V.
constexpr int kHeads = 2;
constexpr int kDim = 64;
constexpr int kRow = kHeads * kDim;

/// How the kernel learns which lanes are tokens.
enum class Count : std::int32_t {
  kByPointer,  ///< it reads the count on the device, as it is when the kernel runs
  kByValue     ///< the fault: it gets the count as it is when the kernel is launched
};

struct Arguments {
  std::uint16_t* cache;           ///< [slots][K|V][kHeads][kDim], bf16
  const float* rows;              ///< [lanes][K|V][kHeads][kDim]
  const std::int64_t* slots;      ///< [lanes]; negative: a pad lane, written nowhere
  const std::int32_t* count_now;  ///< real lanes; null: `count` says
  std::int32_t count;
  std::int32_t lanes;
};

/// Nearest bf16, ties to even; NaN does not occur here.
PAGED_WRITE_ANYWHERE inline std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

/// Writes element `i` of a lane's K and V rows.
PAGED_WRITE_ANYWHERE inline void write_element(const Arguments& args, int lane, int i) {
  const std::int32_t count = args.count_now != nullptr ? *args.count_now : args.count;
  const std::int64_t slot = args.slots[lane];
  if (lane >= count || slot < 0) return;
  args.cache[slot * 2 * kRow + i] = to_bf16(args.rows[lane * 2 * kRow + i]);
}

/// Launches the kernel on a cudaStream_t; throws std::runtime_error where CUDA refuses. There in
/// builds with PAGED_WRITE_CUDA.
void launch(void* stream, const Arguments& args);

}  // namespace paged_write
