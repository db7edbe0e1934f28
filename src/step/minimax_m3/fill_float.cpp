#include "step/minimax_m3/fill_float.hpp"

#include <algorithm>

#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(FillFloatArgs, out),
    GRAPHSAN_ARGUMENT_FIELD(FillFloatArgs, count),
    GRAPHSAN_ARGUMENT_FIELD(FillFloatArgs, value),
};

void fill_float_host(const device::LaunchDims&, const void* arguments) {
  const auto& args = *static_cast<const FillFloatArgs*>(arguments);
  std::fill_n(args.out, args.count, args.value);
}

}  // namespace

const device::Kernel& fill_float_kernel() {
  static const device::Kernel kernel{"fill_float", cuda_symbols::fill_float(), &fill_float_host,
                                     sizeof(FillFloatArgs), kFields};
  return kernel;
}

void launch_fill_float(device::Device& device, device::StreamRef stream,
                       const FillFloatArgs& args) {
  if (args.count <= 0) return;
  device.launch(stream, fill_float_kernel(), element_dims(args.count), &args);
}

}  // namespace graphsan::step::minimax_m3
