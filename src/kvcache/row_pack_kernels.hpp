#pragma once

#include "device/kernel.hpp"
#include "kvcache/row_pack_args.hpp"

namespace graphsan::kvcache {

/// Each takes the argument struct of its name; PackArgs for the first two.
[[nodiscard]] const device::Kernel& pack_kernel();
[[nodiscard]] const device::Kernel& unpack_kernel();
[[nodiscard]] const device::Kernel& copy_rows_kernel();
[[nodiscard]] const device::Kernel& fill_pattern_kernel();

}  // namespace graphsan::kvcache
