#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace graphsan::kvcache {

struct HashBenchOptions {
  /// Size of the caches that are hashed; 0: 4 GiB on CUDA, 64 MiB on the host device. Rounded down
  /// to whole pages.
  std::int64_t bytes = 0;
  int repeats = 9;  ///< timed runs of each measurement, after one that is not timed
};

/// Rate of the full pass over one cache. 1 GB is 1e9 bytes.
struct HashRate {
  std::int64_t row_bytes = 0;
  std::string layout;               ///< `nhd`, or `hnd` with heads apart
  double gigabytes_per_second = 0;  ///< row bytes read and 8 bytes a row written
  double of_plain_read = 0;         ///< the same as a fraction of the plain read's rate
};

/// The incremental pass over one decode step's rows, from the second time on: the rows are where a
/// step that has just written them leaves them.
struct IncrementalTime {
  int tokens = 0;
  int caches = 0;
  std::int64_t row_bytes = 0;
  double microseconds = 0;
  double empty_launch_microseconds = 0;
  double of_empty_launch = 0;
};

struct HashBenchResult {
  std::int64_t bytes = 0;  ///< read by one pass
  std::string plain_read;  ///< what the plain read is, in words
  double plain_read_gigabytes_per_second = 0;
  std::vector<HashRate> rates;
  IncrementalTime incremental;
};

/// Times the full pass for rows of 128 to 1024 bytes, and the incremental pass, against the fastest
/// plain read of the same memory that the device shows in the same run. Medians, by the device's
/// events. Throws std::runtime_error when a sampled digest is not libxxhash's, so that no wrong
/// hash can be fast, and DeviceError kOutOfMemory when the caches do not fit.
[[nodiscard]] HashBenchResult bench_hash(device::Device& device, const HashBenchOptions& options);

}  // namespace graphsan::kvcache
