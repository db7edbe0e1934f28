#include "kvcache/row_hash.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kvcache/launch.hpp"
#include "kvcache/row_hash_args.hpp"
#include "kvcache/row_path.hpp"
#include "kvcache/xxh3_lanes.hpp"

namespace graphsan::kvcache {
namespace {

/// Digest of the row at `address`; `scratch` holds row_bytes(cache) bytes.
std::uint64_t hash_row(const CacheDescriptor& cache, const std::byte* address, std::byte* scratch) {
  const auto bytes = static_cast<std::size_t>(row_bytes(cache));
  if (cache.contiguous != 0) return XXH3_64bits(address, bytes);
  const auto run_bytes = static_cast<std::size_t>(cache.run_bytes);
  for (std::int32_t head = 0; head < cache.heads; ++head) {
    std::memcpy(scratch + head * run_bytes, address + head * cache.head_stride, run_bytes);
  }
  return XXH3_64bits(scratch, bytes);
}

void hash_all_host(const device::LaunchDims& /*dims*/, const void* arguments) {
  const auto& args = *static_cast<const HashAllArgs*>(arguments);
  std::vector<std::byte> scratch;
  for (std::int32_t c = 0; c < args.cache_count; ++c) {
    const CacheDescriptor& cache = args.caches[c];
    scratch.resize(static_cast<std::size_t>(row_bytes(cache)));
    std::uint64_t* digest = args.digests + cache.first_row;
    for (std::int64_t row = 0; row < cache.rows; row += cache.page_size) {
      const std::byte* address = row_address(cache, row);
      for (std::int32_t slot = 0; slot < cache.page_size; ++slot) {
        *digest++ = hash_row(cache, address + slot * cache.slot_stride, scratch.data());
      }
    }
  }
}

void hash_rows_host(const device::LaunchDims& /*dims*/, const void* arguments) {
  const auto& args = *static_cast<const HashRowsArgs*>(arguments);
  std::vector<std::byte> scratch;
  for (std::int64_t i = 0; i < args.count; ++i) {
    const std::int64_t row = args.rows[i];
    if (row < 0 || row >= args.first_rows[args.cache_count]) continue;
    const CacheDescriptor& cache = args.caches[find_cache(args.first_rows, args.cache_count, row)];
    scratch.resize(static_cast<std::size_t>(row_bytes(cache)));
    args.digests[row] = hash_row(cache, row_address(cache, row - cache.first_row), scratch.data());
  }
}

const device::Kernel& hash_all_kernel() {
  static const device::ArgumentFieldInfo kFields[] = {
      GRAPHSAN_ARGUMENT_FIELD(HashAllArgs, caches),
      GRAPHSAN_ARGUMENT_FIELD(HashAllArgs, first_tiles),
      GRAPHSAN_ARGUMENT_FIELD(HashAllArgs, digests), GRAPHSAN_ARGUMENT_FIELD(HashAllArgs, tiles),
      GRAPHSAN_ARGUMENT_FIELD(HashAllArgs, cache_count)};
  static const device::Kernel kKernel{"graphsan_hash_all", GRAPHSAN_CUDA_SYMBOL(hash_all_symbol),
                                      &hash_all_host, sizeof(HashAllArgs), kFields};
  return kKernel;
}

const device::Kernel& hash_rows_kernel() {
  static const device::ArgumentFieldInfo kFields[] = {
      GRAPHSAN_ARGUMENT_FIELD(HashRowsArgs, caches),
      GRAPHSAN_ARGUMENT_FIELD(HashRowsArgs, first_rows),
      GRAPHSAN_ARGUMENT_FIELD(HashRowsArgs, rows),
      GRAPHSAN_ARGUMENT_FIELD(HashRowsArgs, digests),
      GRAPHSAN_ARGUMENT_FIELD(HashRowsArgs, count),
      GRAPHSAN_ARGUMENT_FIELD(HashRowsArgs, cache_count)};
  static const device::Kernel kKernel{"graphsan_hash_rows", GRAPHSAN_CUDA_SYMBOL(hash_rows_symbol),
                                      &hash_rows_host, sizeof(HashRowsArgs), kFields};
  return kKernel;
}

void check_table(const CacheSet& caches, const DigestTable& digests) {
  if (digests.rows() != caches.rows()) {
    throw std::invalid_argument{"a table of " + std::to_string(digests.rows()) +
                                " digests for caches of " + std::to_string(caches.rows()) +
                                " rows"};
  }
}

}  // namespace

void hash_all(device::StreamRef stream, const CacheSet& caches, DigestTable& digests) {
  check_table(caches, digests);
  if (caches.tiles() == 0) return;
  const HashAllArgs args{caches.descriptors(), caches.device_first_tiles(), digests.data(),
                         caches.tiles(), caches.count()};
  caches.device().launch(stream, hash_all_kernel(),
                         blocks_of(caches.tiles(), kHashWarps, kHashWarps * xxh3::kWarpLanes),
                         &args);
}

void hash_rows(device::StreamRef stream, const CacheSet& caches, const std::int64_t* rows,
               std::int64_t count, DigestTable& digests) {
  check_table(caches, digests);
  if (count == 0 || caches.rows() == 0) return;
  const HashRowsArgs args{
      caches.descriptors(), caches.device_first_rows(), rows, digests.data(), count,
      caches.count()};
  caches.device().launch(
      stream, hash_rows_kernel(),
      blocks_of(count, std::int64_t{kHashWarps} * kHashRowsPerWarp, kHashWarps * xxh3::kWarpLanes),
      &args);
}

std::vector<model::Digest> download(device::Device& device, device::StreamRef stream,
                                    const DigestTable& digests) {
  std::vector<model::Digest> host(static_cast<std::size_t>(digests.rows()));
  static_assert(sizeof(model::Digest) == sizeof(std::uint64_t));
  if (host.empty()) return host;
  device.copy(stream, host.data(), digests.data(), host.size() * sizeof(model::Digest));
  device.synchronize(stream);
  return host;
}

model::Digest row_digest(std::span<const std::byte> bytes) {
  return {XXH3_64bits(bytes.data(), bytes.size())};
}

std::vector<model::Digest> page_digests(std::span<const model::Digest> digests,
                                        std::int64_t page_size) {
  const auto slots = static_cast<std::size_t>(page_size);
  if (page_size <= 0 || digests.size() % slots != 0) {
    throw std::invalid_argument{std::to_string(digests.size()) + " digests do not fill pages of " +
                                std::to_string(page_size) + " slots"};
  }
  std::vector<model::Digest> pages;
  pages.reserve(digests.size() / slots);
  for (std::size_t row = 0; row < digests.size(); row += slots) {
    pages.push_back(row_digest(std::as_bytes(digests.subspan(row, slots))));
  }
  return pages;
}

model::Digest cache_digest(std::span<const model::Digest> page_digests) {
  return row_digest(std::as_bytes(page_digests));
}

std::vector<std::string> slow_path_notes(const CacheSet& caches) {
  std::vector<std::string> notes;
  for (std::int32_t c = 0; c < caches.count(); ++c) {
    const std::string reason = slow_path_reason(caches.host_descriptors()[c]);
    if (!reason.empty()) notes.push_back(caches.views()[c].layout.name + ": " + reason);
  }
  return notes;
}

}  // namespace graphsan::kvcache
