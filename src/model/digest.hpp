#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace graphsan::model {

/// XXH3-64 (seed 0) of a row's logical bytes, as `XXH3_64bits()` of libxxhash gives it.
struct Digest {
  std::uint64_t value = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

/// 16 lower-case hexadecimal digits, the form that `xxhsum -H3` prints after its `XXH3_` prefix.
[[nodiscard]] std::string to_hex(Digest digest);

}  // namespace graphsan::model
