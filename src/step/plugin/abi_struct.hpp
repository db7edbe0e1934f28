#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace graphsan::step::plugin {

/// Whether a struct of `given` bytes, of a header newer than ours, sets what lies beyond the
/// `known` bytes of ours: it would be lost.
inline bool sets_unknown(const void* data, std::size_t given, std::size_t known) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return given > known &&
         std::any_of(bytes + known, bytes + given, [](std::byte b) { return b != std::byte{0}; });
}

/// A copy of a struct of another release's header, `given` bytes long: what an older one lacks
/// stays zero, what a newer one has beyond ours is left out.
template <typename Struct>
Struct known_part(const void* data, std::size_t given) {
  Struct copy{};
  std::memcpy(&copy, data, std::min(given, sizeof(copy)));
  return copy;
}

}  // namespace graphsan::step::plugin
