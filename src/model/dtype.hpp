#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace graphsan::model {

/// Element type of a cache, an input or an output.
enum class DType : std::uint8_t { kBf16, kFp8E4M3, kFp8E5M2, kF32, kI32, kI64, kU8 };

/// Bytes of one element.
[[nodiscard]] std::size_t byte_size(DType dtype);

/// The word used on the command line and in reports: `bf16`, `fp8_e4m3`, `fp8_e5m2`, `f32` ...
[[nodiscard]] std::string_view to_string(DType dtype);

/// The inverse of to_string(); empty for an unknown word.
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view word);

}  // namespace graphsan::model
