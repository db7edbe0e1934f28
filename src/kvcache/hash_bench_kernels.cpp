#include "kvcache/hash_bench_kernels.hpp"

#include <cstring>

#include "kvcache/launch.hpp"
#include "kvcache/pattern.hpp"
#include "kvcache/xxh3_lanes.hpp"

namespace graphsan::kvcache {
namespace {

void plain_read_host(const device::LaunchDims& /*dims*/, const void* arguments) {
  const auto& args = *static_cast<const PlainReadArgs*>(arguments);
  constexpr std::int64_t kWords = 8;
  std::uint64_t sums[kWords] = {};
  const auto* const words = reinterpret_cast<const std::uint64_t*>(args.data);
  const std::int64_t count = args.chunks * 2;
  for (std::int64_t i = 0; i + kWords <= count; i += kWords) {
    for (std::int64_t j = 0; j < kWords; ++j) sums[j] += words[i + j];
  }
  std::uint64_t sum = 0;
  for (std::int64_t i = count - count % kWords; i < count; ++i) sum += words[i];
  for (const std::uint64_t part : sums) sum += part;
  if (sum == args.unlikely) *args.sink = sum;
}

void draw_words_host(const device::LaunchDims& /*dims*/, const void* arguments) {
  const auto& args = *static_cast<const DrawWordsArgs*>(arguments);
  for (std::int64_t i = 0; i < args.count; ++i)
    args.words[i] = mix64(static_cast<std::uint64_t>(i));
}

void empty_host(const device::LaunchDims& /*dims*/, const void* /*arguments*/) {}

const device::ArgumentFieldInfo kReadFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(PlainReadArgs, data), GRAPHSAN_ARGUMENT_FIELD(PlainReadArgs, chunks),
    GRAPHSAN_ARGUMENT_FIELD(PlainReadArgs, sink), GRAPHSAN_ARGUMENT_FIELD(PlainReadArgs, unlikely)};

const device::ArgumentFieldInfo kDrawFields[] = {GRAPHSAN_ARGUMENT_FIELD(DrawWordsArgs, words),
                                                 GRAPHSAN_ARGUMENT_FIELD(DrawWordsArgs, count)};

const device::ArgumentFieldInfo kEmptyFields[] = {GRAPHSAN_ARGUMENT_FIELD(EmptyArgs, unused)};

PlainRead plain_read(const void* symbol, int loads, std::uint32_t blocks) {
  return {{"graphsan_plain_read", symbol, &plain_read_host, sizeof(PlainReadArgs), kReadFields},
          std::int64_t{loads} * kBenchThreads,
          kBenchThreads,
          blocks};
}

}  // namespace

const std::vector<PlainRead>& plain_reads() {
  // 1056 and 528 blocks: 8 and 4 for each of an H100's or H200's 132 multiprocessors.
  static const std::vector<PlainRead> kReads = {
      plain_read(GRAPHSAN_CUDA_SYMBOL(plain_read_4_symbol), 4, 0),
      plain_read(GRAPHSAN_CUDA_SYMBOL(plain_read_8_symbol), 8, 0),
      plain_read(GRAPHSAN_CUDA_SYMBOL(plain_read_16_symbol), 16, 0),
      plain_read(GRAPHSAN_CUDA_SYMBOL(plain_read_4_symbol), 4, 1056),
      plain_read(GRAPHSAN_CUDA_SYMBOL(plain_read_8_symbol), 8, 528)};
  return kReads;
}

const device::Kernel& draw_words_kernel() {
  static const device::Kernel kKernel{"graphsan_draw_words",
                                      GRAPHSAN_CUDA_SYMBOL(draw_words_symbol), &draw_words_host,
                                      sizeof(DrawWordsArgs), kDrawFields};
  return kKernel;
}

const device::Kernel& empty_kernel() {
  static const device::Kernel kKernel{"graphsan_empty", GRAPHSAN_CUDA_SYMBOL(empty_symbol),
                                      &empty_host, sizeof(EmptyArgs), kEmptyFields};
  return kKernel;
}

}  // namespace graphsan::kvcache
