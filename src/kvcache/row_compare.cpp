#include "kvcache/row_compare.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kvcache/launch.hpp"
#include "kvcache/row_compare_args.hpp"

namespace graphsan::kvcache {
namespace {

void compare_host(const device::LaunchDims& /*dims*/, const void* arguments) {
  const auto& args = *static_cast<const CompareArgs*>(arguments);
  for (std::int64_t row = 0; row < args.rows; ++row) {
    if (args.a[row] == args.b[row]) continue;
    const auto place = static_cast<std::int64_t>((*args.found)++);
    if (place < args.capacity) args.list[place] = row;
  }
}

const device::Kernel& compare_kernel() {
  static const device::ArgumentFieldInfo kFields[] = {
      GRAPHSAN_ARGUMENT_FIELD(CompareArgs, a),    GRAPHSAN_ARGUMENT_FIELD(CompareArgs, b),
      GRAPHSAN_ARGUMENT_FIELD(CompareArgs, rows), GRAPHSAN_ARGUMENT_FIELD(CompareArgs, found),
      GRAPHSAN_ARGUMENT_FIELD(CompareArgs, list), GRAPHSAN_ARGUMENT_FIELD(CompareArgs, capacity)};
  static const device::Kernel kKernel{"graphsan_compare_rows", GRAPHSAN_CUDA_SYMBOL(compare_symbol),
                                      &compare_host, sizeof(CompareArgs), kFields};
  return kKernel;
}

/// Compares into `scratch`: a counter, then the list. Returns how many rows differ, which may be
/// more than the list holds.
std::int64_t compare(device::Device& device, device::StreamRef stream, const DigestTable& a,
                     const DigestTable& b, std::uint64_t* scratch, std::int64_t capacity) {
  const CompareArgs args{a.data(),
                         b.data(),
                         a.rows(),
                         reinterpret_cast<unsigned long long*>(scratch),
                         reinterpret_cast<std::int64_t*>(scratch + 1),
                         capacity};
  device.fill(stream, scratch, 0, sizeof(std::uint64_t));
  device.launch(
      stream, compare_kernel(),
      blocks_of(a.rows(), std::int64_t{kCompareThreads} * kCompareRowsPerThread, kCompareThreads),
      &args);
  std::uint64_t found = 0;
  device.copy(stream, &found, scratch, sizeof(found));
  device.synchronize(stream);
  return static_cast<std::int64_t>(found);
}

}  // namespace

std::vector<std::int64_t> differing_rows(device::Device& device, device::StreamRef stream,
                                         const DigestTable& a, const DigestTable& b) {
  if (a.rows() != b.rows()) {
    throw std::invalid_argument{"digests of " + std::to_string(a.rows()) + " rows compared with " +
                                std::to_string(b.rows())};
  }
  if (a.rows() == 0) return {};
  std::uint64_t* scratch = a.compare_scratch();
  device::Buffer larger;
  const std::int64_t found = compare(device, stream, a, b, scratch, DigestTable::kScratchRows);
  if (found == 0) return {};
  if (found > DigestTable::kScratchRows) {
    larger = device::Buffer{device, (static_cast<std::size_t>(found) + 1) * sizeof(std::int64_t)};
    scratch = larger.as<std::uint64_t>();
    static_cast<void>(compare(device, stream, a, b, scratch, found));
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(found));
  device.copy(stream, rows.data(), scratch + 1, rows.size() * sizeof(std::int64_t));
  device.synchronize(stream);
  std::ranges::sort(rows);
  return rows;
}

}  // namespace graphsan::kvcache
