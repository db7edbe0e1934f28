#include "kvcache/hash_bench.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>

#include "device/buffer.hpp"
#include "kvcache/cache_set.hpp"
#include "kvcache/hash_bench_kernels.hpp"
#include "kvcache/launch.hpp"
#include "kvcache/row_hash.hpp"
#include "kvcache/xxh3_lanes.hpp"

namespace graphsan::kvcache {
namespace {

constexpr std::int64_t kPageSize = 128;
constexpr std::int64_t kTokens = 64;
constexpr std::int64_t kStepCaches = 60 * 3;
constexpr std::int64_t kStepRowBytes = 256;

/// What one run measures with: a device, a stream, and memory filled with drawn words.
struct Bench {
  device::Device& device;
  device::Stream stream;
  device::Event begin;
  device::Event end;
  device::Buffer memory;
  std::int64_t bytes;
  int repeats;

  [[nodiscard]] CacheView view(std::int64_t pages, std::int64_t heads, std::int64_t run_bytes,
                               bool heads_apart, std::int64_t offset) const;
  /// Median milliseconds of `work`, which issues to the stream.
  [[nodiscard]] double milliseconds(const std::function<void()>& work, int runs) const;
};

CacheView Bench::view(std::int64_t pages, std::int64_t heads, std::int64_t run_bytes,
                      bool heads_apart, std::int64_t offset) const {
  model::CacheLayout layout;
  layout.name = "benchmark";
  layout.dtype = model::DType::kU8;
  layout.pages = pages;
  layout.page_size = kPageSize;
  layout.heads = heads;
  layout.dim = run_bytes;
  layout.page_stride = kPageSize * heads * run_bytes;
  layout.slot_stride = heads_apart ? run_bytes : heads * run_bytes;
  layout.head_stride = heads_apart ? kPageSize * run_bytes : run_bytes;
  return {std::move(layout), memory.as<std::byte>() + offset};
}

double Bench::milliseconds(const std::function<void()>& work, int runs) const {
  work();
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    device.record(begin.get(), stream.get());
    work();
    device.record(end.get(), stream.get());
    device.synchronize(stream.get());
    times.push_back(device.elapsed_ms(begin.get(), end.get()));
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return std::max(*middle, 1e-6);
}

Bench prepare(device::Device& device, const HashBenchOptions& options) {
  if (options.repeats < 1) throw std::invalid_argument{"a benchmark of no repeats"};
  const bool on_host = device.properties().kind == device::DeviceKind::kHost;
  std::int64_t bytes = options.bytes;
  if (bytes == 0) bytes = std::int64_t{on_host ? 64 : 4096} << 20;
  const std::int64_t least = kStepCaches * kPageSize * kStepRowBytes;
  bytes = std::max(bytes, least) / (kPageSize * 1024) * (kPageSize * 1024);
  Bench bench{device,
              device.create_stream(),
              device.create_event(),
              device.create_event(),
              device::Buffer{device, static_cast<std::size_t>(bytes)},
              bytes,
              options.repeats};
  const DrawWordsArgs args{bench.memory.as<std::uint64_t>(), bytes / 8};
  device.launch(bench.stream.get(), draw_words_kernel(), {{4096}, {kBenchThreads}, 0}, &args);
  device.synchronize(bench.stream.get());
  return bench;
}

/// Rate in GB/s of the fastest plain read.
double fastest_plain_read(const Bench& bench) {
  const device::Buffer sink{bench.device, sizeof(std::uint64_t)};
  const PlainReadArgs args{bench.memory.as<const std::byte>(), bench.bytes / xxh3::kChunkBytes,
                           sink.as<std::uint64_t>(), 0x9E3779B97F4A7C15U};
  double fastest = 0;
  for (const PlainRead& read : plain_reads()) {
    device::LaunchDims dims = blocks_of(args.chunks, read.chunks_per_block, read.threads);
    if (read.blocks != 0) dims.grid.x = std::min(dims.grid.x, read.blocks);
    const double time = bench.milliseconds(
        [&] { bench.device.launch(bench.stream.get(), read.kernel, dims, &args); }, bench.repeats);
    fastest = std::max(fastest, static_cast<double>(bench.bytes) / time / 1e6);
    if (bench.device.properties().kind == device::DeviceKind::kHost) break;
  }
  return fastest;
}

/// Throws unless sampled digests are what libxxhash gives for the rows' bytes.
void check_samples(const Bench& bench, const CacheSet& caches, const DigestTable& table) {
  constexpr std::int64_t kSamples = 16;
  for (std::int64_t sample = 0; sample < kSamples; ++sample) {
    const std::int64_t row = (caches.rows() - 1) * sample / (kSamples - 1);
    const int cache = caches.cache_of(row);
    const CacheView& view = caches.views()[cache];
    const auto run_bytes = static_cast<std::size_t>(view.layout.run_bytes());
    std::vector<std::byte> bytes(static_cast<std::size_t>(view.layout.row_bytes()));
    for (std::int64_t head = 0; head < view.layout.heads; ++head) {
      const std::byte* const run = static_cast<const std::byte*>(view.base) +
                                   view.layout.run_offset(row - caches.first_row(cache), head);
      bench.device.copy(bench.stream.get(), bytes.data() + head * run_bytes, run, run_bytes);
    }
    model::Digest digest;
    bench.device.copy(bench.stream.get(), &digest, table.data() + row, sizeof(digest));
    bench.device.synchronize(bench.stream.get());
    if (digest != row_digest(bytes)) {
      throw std::runtime_error{"row " + std::to_string(row) + " of " +
                               std::to_string(bytes.size()) + " bytes has the digest " +
                               model::to_hex(digest) + ", and libxxhash gives " +
                               model::to_hex(row_digest(bytes))};
    }
  }
}

HashRate rate_of_full_pass(const Bench& bench, std::int64_t heads, std::int64_t run_bytes,
                           bool heads_apart, double plain_read) {
  const std::int64_t row_bytes = heads * run_bytes;
  const std::int64_t pages = bench.bytes / (kPageSize * row_bytes);
  const CacheSet caches{
      bench.device, bench.stream.get(), {bench.view(pages, heads, run_bytes, heads_apart, 0)}};
  DigestTable table{bench.device, caches.rows()};
  const double time =
      bench.milliseconds([&] { hash_all(bench.stream.get(), caches, table); }, bench.repeats);
  check_samples(bench, caches, table);
  const auto moved = static_cast<double>(caches.rows() * (row_bytes + 8));
  const double rate = moved / time / 1e6;
  return {row_bytes, heads_apart ? "hnd" : "nhd", rate, rate / plain_read};
}

/// One row a token in each cache, spread over the cache and shifted from one cache to the next.
std::vector<std::int64_t> rows_of_a_step(const CacheSet& caches) {
  std::vector<std::int64_t> rows;
  for (int cache = 0; cache < caches.count(); ++cache) {
    const std::int64_t size = caches.views()[cache].layout.rows();
    for (std::int64_t token = 0; token < kTokens; ++token) {
      rows.push_back(caches.global_row(cache, (token * (size / kTokens) + cache) % size));
    }
  }
  return rows;
}

IncrementalTime time_incremental_pass(const Bench& bench) {
  constexpr std::int64_t kMostPages = 64;
  const std::int64_t pages =
      std::min(kMostPages, bench.bytes / (kStepCaches * kPageSize * kStepRowBytes));
  std::vector<CacheView> views;
  for (std::int64_t cache = 0; cache < kStepCaches; ++cache) {
    views.push_back(
        bench.view(pages, 1, kStepRowBytes, false, cache * pages * kPageSize * kStepRowBytes));
  }
  const CacheSet caches{bench.device, bench.stream.get(), std::move(views)};
  const std::vector<std::int64_t> rows = rows_of_a_step(caches);
  const device::Buffer list{bench.device, rows.size() * sizeof(std::int64_t)};
  bench.device.copy(bench.stream.get(), list.data(), rows.data(), list.bytes());
  DigestTable table{bench.device, caches.rows()};
  hash_all(bench.stream.get(), caches, table);

  const int runs = 5 * bench.repeats;
  const EmptyArgs args{};
  IncrementalTime result{static_cast<int>(kTokens), static_cast<int>(kStepCaches), kStepRowBytes};
  result.empty_launch_microseconds =
      1e3 * bench.milliseconds(
                [&] { bench.device.launch(bench.stream.get(), empty_kernel(), {}, &args); }, runs);
  result.microseconds =
      1e3 * bench.milliseconds(
                [&] {
                  hash_rows(bench.stream.get(), caches, list.as<const std::int64_t>(),
                            static_cast<std::int64_t>(rows.size()), table);
                },
                runs);
  result.of_empty_launch = result.microseconds / result.empty_launch_microseconds;
  check_samples(bench, caches, table);
  return result;
}

}  // namespace

HashBenchResult bench_hash(device::Device& device, const HashBenchOptions& options) {
  const Bench bench = prepare(device, options);
  HashBenchResult result;
  result.bytes = bench.bytes;
  result.plain_read = device.properties().kind == device::DeviceKind::kHost
                          ? "sum of the memory's 64-bit words by one thread of the host"
                          : "contiguous read with 16-byte loads, the fastest of several kernels";
  result.plain_read_gigabytes_per_second = fastest_plain_read(bench);
  for (const std::int64_t row_bytes : {128, 256, 512, 1024}) {
    result.rates.push_back(
        rate_of_full_pass(bench, 1, row_bytes, false, result.plain_read_gigabytes_per_second));
  }
  result.rates.push_back(
      rate_of_full_pass(bench, 4, 128, true, result.plain_read_gigabytes_per_second));
  result.incremental = time_incremental_pass(bench);
  return result;
}

}  // namespace graphsan::kvcache
