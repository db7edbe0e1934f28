#include "kvcache/row_path.hpp"

#include <cstdint>

#include "kvcache/xxh3_lanes.hpp"

namespace graphsan::kvcache {
namespace {

bool is_aligned(const CacheDescriptor& cache) {
  const auto multiple = [](std::int64_t stride) { return stride % xxh3::kChunkBytes == 0; };
  return reinterpret_cast<std::uintptr_t>(cache.base) % xxh3::kChunkBytes == 0 &&
         (cache.rows <= cache.page_size || multiple(cache.page_stride)) &&
         (cache.page_size == 1 || multiple(cache.slot_stride)) &&
         (cache.contiguous != 0 || multiple(cache.head_stride));
}

RowPath fast_path(std::int32_t bytes) {
  if (bytes == 64) return RowPath::kSlot64;
  if (bytes == 128) return RowPath::kSlot128;
  if (bytes == 256) return RowPath::kSlot256;
  if (bytes == 192 || bytes > 1024) return RowPath::kWarp;
  return bytes <= 512 ? RowPath::kSlot512 : RowPath::kSlot1024;
}

std::uint32_t tile_rows(RowPath path) {
  switch (path) {
    case RowPath::kSlot64:
      return xxh3::TileShape<64>::kRows;
    case RowPath::kSlot128:
      return xxh3::TileShape<128>::kRows;
    case RowPath::kSlot256:
      return xxh3::TileShape<256>::kRows;
    case RowPath::kSlot512:
      return xxh3::TileShape<512>::kRows;
    case RowPath::kSlot1024:
      return xxh3::TileShape<1024>::kRows;
    case RowPath::kWarp:
      return 4;
    case RowPath::kBytes:
      return xxh3::kWarpLanes;
  }
  return 1;
}

}  // namespace

std::string slow_path_reason(const CacheDescriptor& cache) {
  const std::int32_t run = cache.contiguous != 0 ? row_bytes(cache) : cache.run_bytes;
  const std::string runs = "runs of " + std::to_string(run) + " bytes are ";
  if (run < 64) return runs + "shorter than 64 bytes";
  if (run % 64 != 0) return runs + "not a multiple of 64 bytes";
  if (!is_aligned(cache)) return "runs are not 16-byte aligned";
  return {};
}

void choose_path(CacheDescriptor& cache) {
  cache.path = slow_path_reason(cache).empty() ? fast_path(row_bytes(cache)) : RowPath::kBytes;
  cache.rows_per_tile = static_cast<std::uint8_t>(tile_rows(cache.path));
}

}  // namespace graphsan::kvcache
