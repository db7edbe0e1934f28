#include "run/pool_watch.hpp"

#include "device/buffer.hpp"

namespace graphsan::run {

PoolWatch::PoolWatch(const kvcache::CacheSet& caches)
    : caches_{&caches},
      before_{caches.device(), caches.rows()},
      after_{caches.device(), caches.rows()} {}

void PoolWatch::rebase(device::StreamRef stream) {
  kvcache::hash_all(stream, *caches_, before_);
  caches_->device().copy(stream, after_.data(), before_.data(),
                         static_cast<std::size_t>(before_.rows()) * sizeof(std::uint64_t));
}

void PoolWatch::hash_rows(device::StreamRef stream, std::span<const std::int64_t> rows,
                          kvcache::DigestTable& into) {
  if (rows.empty()) return;
  device::Device& device = caches_->device();
  const device::Buffer list{device, rows.size_bytes()};
  device.copy(stream, list.data(), rows.data(), rows.size_bytes());
  kvcache::hash_rows(stream, *caches_, list.as<const std::int64_t>(),
                     static_cast<std::int64_t>(rows.size()), into);
  device.synchronize(stream);
}

void PoolWatch::rebase_rows(device::StreamRef stream, std::span<const std::int64_t> rows) {
  hash_rows(stream, rows, before_);
  hash_rows(stream, rows, after_);
}

std::vector<std::int64_t> PoolWatch::settle(device::StreamRef stream) {
  std::vector<std::int64_t> rows =
      kvcache::differing_rows(caches_->device(), stream, before_, after_);
  caches_->device().copy(stream, before_.data(), after_.data(),
                         static_cast<std::size_t>(before_.rows()) * sizeof(std::uint64_t));
  return rows;
}

std::vector<std::int64_t> PoolWatch::changed(device::StreamRef stream) {
  kvcache::hash_all(stream, *caches_, after_);
  return settle(stream);
}

std::vector<std::int64_t> PoolWatch::changed_among(device::StreamRef stream,
                                                   std::span<const std::int64_t> rows) {
  hash_rows(stream, rows, after_);
  return settle(stream);
}

}  // namespace graphsan::run
