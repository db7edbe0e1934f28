#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "kvcache/cache_set.hpp"
#include "kvcache/row_hash.hpp"
#include "tests/support/device_contract.hpp"

namespace graphsan::test {

/// How pages × slots × heads lie in memory.
enum class Arrangement : std::uint8_t {
  kNhd,          ///< slot after slot, its heads together
  kHnd,          ///< head after head, its slots together
  kInterleaved,  ///< NHD with another cache's page after each page
};

/// Shape of a cache whose elements are bytes.
struct Shape {
  std::int64_t pages = 3;
  std::int64_t page_size = 12;
  std::int64_t heads = 1;
  std::int64_t run_bytes = 128;
};

inline model::CacheLayout make_layout(const Shape& shape, Arrangement arrangement) {
  model::CacheLayout layout;
  layout.dtype = model::DType::kU8;
  layout.pages = shape.pages;
  layout.page_size = shape.page_size;
  layout.heads = shape.heads;
  layout.dim = shape.run_bytes;
  const std::int64_t row = shape.heads * shape.run_bytes;
  layout.page_stride = shape.page_size * row;
  layout.slot_stride = row;
  layout.head_stride = shape.run_bytes;
  if (arrangement == Arrangement::kHnd) {
    layout.slot_stride = shape.run_bytes;
    layout.head_stride = shape.page_size * shape.run_bytes;
  }
  if (arrangement == Arrangement::kInterleaved) layout.page_stride *= 2;
  layout.name = "cache of " + std::to_string(shape.heads) + " runs of " +
                std::to_string(shape.run_bytes) + " bytes";
  return layout;
}

/// Bytes from row 0, head 0 to the end of the last page, a neighbour's page included.
inline std::size_t span_of(const model::CacheLayout& layout) {
  return static_cast<std::size_t>(layout.pages * layout.page_stride);
}

inline std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::vector<std::byte> bytes(count + 8);
  for (std::size_t i = 0; i < count; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, sizeof(word));
  }
  bytes.resize(count);
  return bytes;
}

/// What every device must do with caches. The tests are in kvcache_contract_*.hpp; a test program
/// includes them in one file and instantiates the suite with its device.
class KvCacheContract : public ::testing::TestWithParam<DeviceUnderTest> {
 protected:
  void SetUp() override {
    device_ = GetParam().open();
    if (device_ == nullptr) {
      if (std::getenv("GRAPHSAN_REQUIRE_GPU") != nullptr) FAIL() << "GRAPHSAN_REQUIRE_GPU is set";
      GTEST_SKIP() << "no such device";
    }
    stream_ = device_->create_stream();
  }

  [[nodiscard]] device::Device& device() { return *device_; }
  [[nodiscard]] device::StreamRef stream() const { return stream_.get(); }

  /// Puts caches of random bytes, one after another, into memory of their own; `misalignment` is
  /// added to each cache's address. Logical contents depend on `seed` and the shapes only.
  [[nodiscard]] kvcache::CacheSet make_caches(std::vector<model::CacheLayout> layouts,
                                              std::uint64_t seed, std::size_t misalignment = 0) {
    constexpr std::size_t kAlignment = 256;
    std::vector<std::size_t> starts;
    std::size_t total = 0;
    for (const model::CacheLayout& layout : layouts) {
      starts.push_back(total + misalignment);
      total += (span_of(layout) + misalignment + kAlignment - 1) / kAlignment * kAlignment;
    }
    std::vector<std::byte> host(total, std::byte{0xEE});
    std::vector<kvcache::CacheView> views;
    memory_.emplace_back(device(), total);
    for (std::size_t c = 0; c < layouts.size(); ++c) {
      scatter(layouts[c], seed + c, host.data() + starts[c]);
      views.push_back({std::move(layouts[c]), memory_.back().as<std::byte>() + starts[c]});
    }
    device().copy(stream(), memory_.back().data(), host.data(), total);
    device().synchronize(stream());
    return kvcache::CacheSet{device(), stream(), std::move(views)};
  }

  /// Logical bytes of every row, in global order, read back through the layouts alone.
  [[nodiscard]] std::vector<std::vector<std::byte>> logical_rows(const kvcache::CacheSet& caches) {
    std::vector<std::vector<std::byte>> rows;
    for (const kvcache::CacheView& view : caches.views()) {
      std::vector<std::byte> bytes(span_of(view.layout));
      device().copy(stream(), bytes.data(), view.base, bytes.size());
      device().synchronize(stream());
      for (std::int64_t row = 0; row < view.layout.rows(); ++row) {
        std::vector<std::byte>& logical = rows.emplace_back();
        for (std::int64_t head = 0; head < view.layout.heads; ++head) {
          const auto run = bytes.begin() + view.layout.run_offset(row, head);
          logical.insert(logical.end(), run, run + view.layout.run_bytes());
        }
      }
    }
    return rows;
  }

  [[nodiscard]] std::vector<model::Digest> hash(const kvcache::CacheSet& caches) {
    kvcache::DigestTable table{device(), caches.rows()};
    kvcache::hash_all(stream(), caches, table);
    return kvcache::download(device(), stream(), table);
  }

  [[nodiscard]] static std::vector<model::Digest> digests_of(
      const std::vector<std::vector<std::byte>>& rows) {
    std::vector<model::Digest> digests;
    for (const std::vector<std::byte>& row : rows) {
      digests.push_back({XXH3_64bits(row.data(), row.size())});
    }
    return digests;
  }

  /// The first row whose digest is not libxxhash's of its bytes, named, or an empty string.
  [[nodiscard]] std::string first_wrong_digest(const kvcache::CacheSet& caches,
                                               const std::vector<model::Digest>& digests) {
    const std::vector<model::Digest> expected = digests_of(logical_rows(caches));
    for (std::size_t row = 0; row < expected.size(); ++row) {
      if (digests[row] == expected[row]) continue;
      const int cache = caches.cache_of(static_cast<std::int64_t>(row));
      return caches.views()[cache].layout.name + ", row " +
             std::to_string(static_cast<std::int64_t>(row) - caches.first_row(cache));
    }
    return {};
  }

  /// Overwrites one logical byte.
  void flip_byte(const kvcache::CacheSet& caches, std::int64_t global_row, std::int64_t head = 0) {
    const int cache = caches.cache_of(global_row);
    const kvcache::CacheView& view = caches.views()[cache];
    auto* const address = static_cast<std::byte*>(view.base) +
                          view.layout.run_offset(global_row - caches.first_row(cache), head) +
                          view.layout.run_bytes() - 1;
    std::byte value{};
    device().copy(stream(), &value, address, 1);
    device().synchronize(stream());
    value ^= std::byte{0x10};
    device().copy(stream(), address, &value, 1);
    device().synchronize(stream());
  }

  [[nodiscard]] device::Buffer upload(const std::vector<std::int64_t>& list) {
    device::Buffer buffer{device(), list.size() * sizeof(std::int64_t)};
    device().copy(stream(), buffer.data(), list.data(), buffer.bytes());
    device().synchronize(stream());
    return buffer;
  }

 private:
  static void scatter(const model::CacheLayout& layout, std::uint64_t seed, std::byte* to) {
    const std::vector<std::byte> logical =
        random_bytes(static_cast<std::size_t>(layout.rows() * layout.row_bytes()), seed);
    const std::byte* from = logical.data();
    for (std::int64_t row = 0; row < layout.rows(); ++row) {
      for (std::int64_t head = 0; head < layout.heads; ++head) {
        std::memcpy(to + layout.run_offset(row, head), from,
                    static_cast<std::size_t>(layout.run_bytes()));
        from += layout.run_bytes();
      }
    }
  }

  std::unique_ptr<device::Device> device_;
  device::Stream stream_;
  std::vector<device::Buffer> memory_;
};

}  // namespace graphsan::test
