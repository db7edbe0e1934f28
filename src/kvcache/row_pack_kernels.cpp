#include "kvcache/row_pack_kernels.hpp"

#include <cstring>

#include "kvcache/launch.hpp"

namespace graphsan::kvcache {
namespace {

template <typename Args>
const CacheDescriptor& cache_of_entry(const Args& args, const CacheDescriptor* caches,
                                      std::int64_t entry) {
  return caches[find_cache(args.first_rows, args.cache_count, args.rows[entry])];
}

/// Calls `copy(run's address, run's first logical byte, bytes)` for each run of a row.
template <typename Copy>
void for_each_run(const CacheDescriptor& cache, std::int64_t global_row, const Copy& copy) {
  std::byte* const address = row_address(cache, global_row - cache.first_row);
  for (std::int32_t head = 0; head < cache.heads; ++head) {
    copy(address + head * cache.head_stride, std::int64_t{head} * cache.run_bytes,
         static_cast<std::size_t>(cache.run_bytes));
  }
}

void pack_host(const device::LaunchDims& /*dims*/, const void* arguments) {
  const auto& args = *static_cast<const PackArgs*>(arguments);
  for (std::int64_t i = 0; i < args.count; ++i) {
    for_each_run(cache_of_entry(args, args.caches, i), args.rows[i],
                 [&](const std::byte* run, std::int64_t first, std::size_t bytes) {
                   std::memcpy(args.bytes + args.offsets[i] + first, run, bytes);
                 });
  }
}

void unpack_host(const device::LaunchDims& /*dims*/, const void* arguments) {
  const auto& args = *static_cast<const PackArgs*>(arguments);
  for (std::int64_t i = 0; i < args.count; ++i) {
    for_each_run(cache_of_entry(args, args.caches, i), args.rows[i],
                 [&](std::byte* run, std::int64_t first, std::size_t bytes) {
                   std::memcpy(run, args.bytes + args.offsets[i] + first, bytes);
                 });
  }
}

void copy_rows_host(const device::LaunchDims& /*dims*/, const void* arguments) {
  const auto& args = *static_cast<const CopyRowsArgs*>(arguments);
  for (std::int64_t i = 0; i < args.count; ++i) {
    const CacheDescriptor& from = cache_of_entry(args, args.from, i);
    const std::byte* const source = row_address(from, args.rows[i] - from.first_row);
    for_each_run(cache_of_entry(args, args.to, i), args.rows[i],
                 [&](std::byte* run, std::int64_t first, std::size_t bytes) {
                   const auto byte = static_cast<std::uint32_t>(first);
                   std::memmove(run, source + byte_offset(from, byte), bytes);
                 });
  }
}

void fill_pattern_host(const device::LaunchDims& /*dims*/, const void* arguments) {
  const auto& args = *static_cast<const FillPatternArgs*>(arguments);
  for (std::int64_t i = 0; i < args.count; ++i) {
    const auto row = static_cast<std::uint64_t>(args.rows[i]);
    for_each_run(cache_of_entry(args, args.caches, i), args.rows[i],
                 [&](std::byte* run, std::int64_t first, std::size_t bytes) {
                   fill_pattern_bytes(args.key, row, static_cast<std::uint64_t>(first), run, bytes);
                 });
  }
}

const device::ArgumentFieldInfo kPackFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(PackArgs, caches),     GRAPHSAN_ARGUMENT_FIELD(PackArgs, first_rows),
    GRAPHSAN_ARGUMENT_FIELD(PackArgs, rows),       GRAPHSAN_ARGUMENT_FIELD(PackArgs, offsets),
    GRAPHSAN_ARGUMENT_FIELD(PackArgs, bytes),      GRAPHSAN_ARGUMENT_FIELD(PackArgs, count),
    GRAPHSAN_ARGUMENT_FIELD(PackArgs, cache_count)};

const device::ArgumentFieldInfo kCopyFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(CopyRowsArgs, from),
    GRAPHSAN_ARGUMENT_FIELD(CopyRowsArgs, to),
    GRAPHSAN_ARGUMENT_FIELD(CopyRowsArgs, first_rows),
    GRAPHSAN_ARGUMENT_FIELD(CopyRowsArgs, rows),
    GRAPHSAN_ARGUMENT_FIELD(CopyRowsArgs, count),
    GRAPHSAN_ARGUMENT_FIELD(CopyRowsArgs, cache_count)};

const device::ArgumentFieldInfo kFillFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(FillPatternArgs, caches),
    GRAPHSAN_ARGUMENT_FIELD(FillPatternArgs, first_rows),
    GRAPHSAN_ARGUMENT_FIELD(FillPatternArgs, rows),
    GRAPHSAN_ARGUMENT_FIELD(FillPatternArgs, key),
    GRAPHSAN_ARGUMENT_FIELD(FillPatternArgs, count),
    GRAPHSAN_ARGUMENT_FIELD(FillPatternArgs, cache_count)};

}  // namespace

const device::Kernel& pack_kernel() {
  static const device::Kernel kKernel{"graphsan_pack_rows", GRAPHSAN_CUDA_SYMBOL(pack_symbol),
                                      &pack_host, sizeof(PackArgs), kPackFields};
  return kKernel;
}

const device::Kernel& unpack_kernel() {
  static const device::Kernel kKernel{"graphsan_unpack_rows", GRAPHSAN_CUDA_SYMBOL(unpack_symbol),
                                      &unpack_host, sizeof(PackArgs), kPackFields};
  return kKernel;
}

const device::Kernel& copy_rows_kernel() {
  static const device::Kernel kKernel{"graphsan_copy_rows", GRAPHSAN_CUDA_SYMBOL(copy_rows_symbol),
                                      &copy_rows_host, sizeof(CopyRowsArgs), kCopyFields};
  return kKernel;
}

const device::Kernel& fill_pattern_kernel() {
  static const device::Kernel kKernel{"graphsan_fill_pattern",
                                      GRAPHSAN_CUDA_SYMBOL(fill_pattern_symbol), &fill_pattern_host,
                                      sizeof(FillPatternArgs), kFillFields};
  return kKernel;
}

}  // namespace graphsan::kvcache
