#include "step/minimax_m3/mix.hpp"

#include <algorithm>

#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(MixArgs, base),      GRAPHSAN_ARGUMENT_FIELD(MixArgs, out),
    GRAPHSAN_ARGUMENT_FIELD(MixArgs, qkv),       GRAPHSAN_ARGUMENT_FIELD(MixArgs, row_width),
    GRAPHSAN_ARGUMENT_FIELD(MixArgs, out_width), GRAPHSAN_ARGUMENT_FIELD(MixArgs, tokens),
    GRAPHSAN_ARGUMENT_FIELD(MixArgs, weight),
};

void mix_row(const MixArgs& args, std::int64_t token) {
  const std::uint16_t* base = args.base + token * args.row_width;
  std::uint16_t* qkv = args.qkv + token * args.row_width;
  if (args.out == nullptr) {
    std::copy_n(base, base == qkv ? 0 : args.row_width, qkv);
    return;
  }
  const std::uint16_t* out = args.out + token * args.out_width;
  std::int64_t column = 3 % args.out_width;
  for (std::int64_t j = 0; j < args.row_width; ++j) {
    qkv[j] = mixed(base[j], out[column], args.weight);
    column = (column + 7) % args.out_width;
  }
}

void mix_host(const device::LaunchDims& dims, const void* arguments) {
  const auto& args = *static_cast<const MixArgs*>(arguments);
  for (std::int64_t t = 0; t < covered_lanes(dims, args.tokens); ++t) mix_row(args, t);
}

}  // namespace

const device::Kernel& mix_kernel() {
  static const device::Kernel kernel{"mix", cuda_symbols::mix(), &mix_host, sizeof(MixArgs),
                                     kFields};
  return kernel;
}

void launch_mix(device::Device& device, device::StreamRef stream, const MixArgs& args) {
  if (args.tokens <= 0) return;
  device.launch(stream, mix_kernel(), lane_dims(args.tokens), &args);
}

}  // namespace graphsan::step::minimax_m3
