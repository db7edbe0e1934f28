#pragma once

#include <cstdint>

namespace graphsan::step::minimax_m3 {

/// How fp8 bytes are made: by the conversion instruction (compute capability 8.9 and up) or in
/// integer arithmetic. Both give the same bytes. The host functions always use the software form.
enum class Conversion : std::int32_t { kNative, kSoftware };

}  // namespace graphsan::step::minimax_m3
