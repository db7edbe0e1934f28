#include "step/minimax_m3/contiguous.hpp"

#include <algorithm>

#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(ContiguousArgs, source),
    GRAPHSAN_ARGUMENT_FIELD(ContiguousArgs, source_stride),
    GRAPHSAN_ARGUMENT_FIELD(ContiguousArgs, destination),
    GRAPHSAN_ARGUMENT_FIELD(ContiguousArgs, tokens),
    GRAPHSAN_ARGUMENT_FIELD(ContiguousArgs, width),
};

void contiguous_host(const device::LaunchDims& dims, const void* arguments) {
  const auto& args = *static_cast<const ContiguousArgs*>(arguments);
  for (std::int64_t t = 0; t < covered_lanes(dims, args.tokens); ++t) {
    std::copy_n(args.source + t * args.source_stride, args.width,
                args.destination + t * args.width);
  }
}

}  // namespace

const device::Kernel& contiguous_kernel() {
  static const device::Kernel kernel{"contiguous", cuda_symbols::contiguous(), &contiguous_host,
                                     sizeof(ContiguousArgs), kFields};
  return kernel;
}

void launch_contiguous(device::Device& device, device::StreamRef stream,
                       const ContiguousArgs& args) {
  if (args.tokens <= 0) return;
  device.launch(stream, contiguous_kernel(), lane_dims(args.tokens), &args);
}

}  // namespace graphsan::step::minimax_m3
