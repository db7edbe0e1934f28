#include "kvcache/row_pack.hpp"

#include <stdexcept>
#include <utility>

#include "kvcache/launch.hpp"
#include "kvcache/pattern.hpp"
#include "kvcache/row_pack_kernels.hpp"
#include "kvcache/xxh3_lanes.hpp"

namespace graphsan::kvcache {
namespace {

device::LaunchDims one_warp_a_row(std::size_t rows) {
  return blocks_of(static_cast<std::int64_t>(rows), kPackThreads / xxh3::kWarpLanes, kPackThreads);
}

/// A list on the device; the host list must live until the stream has run.
device::Buffer upload(device::Device& device, device::StreamRef stream,
                      std::span<const std::int64_t> list) {
  device::Buffer buffer{device, list.size_bytes()};
  device.copy(stream, buffer.data(), list.data(), list.size_bytes());
  return buffer;
}

void check_rows(const CacheSet& caches, std::span<const std::int64_t> rows) {
  for (const std::int64_t row : rows) {
    if (row < 0 || row >= caches.rows()) {
      throw std::out_of_range{"row " + std::to_string(row) + " of " +
                              std::to_string(caches.rows())};
    }
  }
}

void check_equal_rows(const CacheSet& a, const CacheSet& b) {
  bool equal = a.count() == b.count();
  for (std::int32_t c = 0; equal && c < a.count(); ++c) {
    const model::CacheLayout& left = a.views()[c].layout;
    const model::CacheLayout& right = b.views()[c].layout;
    equal = left.rows() == right.rows() && left.heads == right.heads &&
            left.run_bytes() == right.run_bytes();
  }
  if (!equal) throw std::invalid_argument{"rows copied between caches of different shapes"};
}

PackArgs arguments(const CacheSet& caches, const RowPack& pack) {
  return {caches.descriptors(),
          caches.device_first_rows(),
          pack.device_rows.as<const std::int64_t>(),
          pack.device_offsets.as<const std::int64_t>(),
          pack.bytes.as<std::byte>(),
          static_cast<std::int64_t>(pack.rows.size()),
          caches.count()};
}

}  // namespace

RowPack pack_rows(device::StreamRef stream, const CacheSet& caches,
                  std::vector<std::int64_t> rows) {
  check_rows(caches, rows);
  device::Device& device = caches.device();
  RowPack pack;
  pack.rows = std::move(rows);
  pack.offsets.reserve(pack.rows.size() + 1);
  pack.offsets.push_back(0);
  for (const std::int64_t row : pack.rows) {
    const CacheDescriptor& cache = caches.host_descriptors()[caches.cache_of(row)];
    pack.offsets.push_back(pack.offsets.back() + row_bytes(cache));
  }
  if (pack.rows.empty()) return pack;
  pack.device_rows = upload(device, stream, pack.rows);
  pack.device_offsets = upload(device, stream, pack.offsets);
  pack.bytes = device::Buffer{device, static_cast<std::size_t>(pack.offsets.back())};
  const PackArgs args = arguments(caches, pack);
  device.launch(stream, pack_kernel(), one_warp_a_row(pack.rows.size()), &args);
  device.synchronize(stream);
  return pack;
}

void unpack_rows(device::StreamRef stream, const CacheSet& caches, const RowPack& pack) {
  if (pack.rows.empty()) return;
  for (std::size_t i = 0; i < pack.rows.size(); ++i) {
    const std::int64_t row = pack.rows[i];
    const bool fits = row >= 0 && row < caches.rows() &&
                      pack.offsets[i + 1] - pack.offsets[i] ==
                          row_bytes(caches.host_descriptors()[caches.cache_of(row)]);
    if (!fits) throw std::invalid_argument{"packed rows put into caches of another shape"};
  }
  const PackArgs args = arguments(caches, pack);
  caches.device().launch(stream, unpack_kernel(), one_warp_a_row(pack.rows.size()), &args);
}

std::vector<std::vector<std::byte>> download(device::StreamRef stream, const CacheSet& caches,
                                             const RowPack& pack) {
  std::vector<std::vector<std::byte>> rows(pack.rows.size());
  if (rows.empty()) return rows;
  std::vector<std::byte> bytes(static_cast<std::size_t>(pack.offsets.back()));
  caches.device().copy(stream, bytes.data(), pack.bytes.data(), bytes.size());
  caches.device().synchronize(stream);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].assign(bytes.begin() + pack.offsets[i], bytes.begin() + pack.offsets[i + 1]);
  }
  return rows;
}

void fill_pattern(device::StreamRef stream, const CacheSet& caches,
                  std::span<const std::int64_t> rows, std::uint64_t seed) {
  check_rows(caches, rows);
  if (rows.empty()) return;
  const device::Buffer list = upload(caches.device(), stream, rows);
  const FillPatternArgs args{caches.descriptors(),
                             caches.device_first_rows(),
                             list.as<const std::int64_t>(),
                             pattern_key(seed),
                             static_cast<std::int64_t>(rows.size()),
                             caches.count()};
  caches.device().launch(stream, fill_pattern_kernel(), one_warp_a_row(rows.size()), &args);
  caches.device().synchronize(stream);
}

std::vector<std::byte> pattern_bytes(std::int64_t global_row, std::size_t bytes,
                                     std::uint64_t seed) {
  std::vector<std::byte> pattern(bytes);
  fill_pattern_bytes(pattern_key(seed), static_cast<std::uint64_t>(global_row), 0, pattern.data(),
                     bytes);
  return pattern;
}

void copy_rows(device::StreamRef stream, const CacheSet& from, const CacheSet& to,
               std::span<const std::int64_t> rows) {
  check_equal_rows(from, to);
  check_rows(from, rows);
  if (rows.empty()) return;
  const device::Buffer list = upload(from.device(), stream, rows);
  const CopyRowsArgs args{from.descriptors(),
                          to.descriptors(),
                          from.device_first_rows(),
                          list.as<const std::int64_t>(),
                          static_cast<std::int64_t>(rows.size()),
                          from.count()};
  from.device().launch(stream, copy_rows_kernel(), one_warp_a_row(rows.size()), &args);
  from.device().synchronize(stream);
}

}  // namespace graphsan::kvcache
