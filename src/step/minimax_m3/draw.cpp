#include "step/minimax_m3/draw.hpp"

#include <algorithm>

#include "step/minimax_m3/cuda_symbols.hpp"
#include "step/minimax_m3/host_simd.hpp"
#include "step/minimax_m3/launch_dims.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr device::ArgumentFieldInfo kFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(DrawArgs, out),   GRAPHSAN_ARGUMENT_FIELD(DrawArgs, count),
    GRAPHSAN_ARGUMENT_FIELD(DrawArgs, first), GRAPHSAN_ARGUMENT_FIELD(DrawArgs, seed),
    GRAPHSAN_ARGUMENT_FIELD(DrawArgs, scale),
};

GRAPHSAN_INLINE_BODY void draw_run(std::uint16_t* out, std::uint32_t count, DrawKeys keys,
                                   std::uint32_t low, float scale) {
  for (std::uint32_t i = 0; i < count; ++i) out[i] = draw_element(keys, low + i, scale);
}

GRAPHSAN_TARGET_AVX2 void draw_run_avx2(std::uint16_t* out, std::uint32_t count, DrawKeys keys,
                                        std::uint32_t low, float scale) {
  draw_run(out, count, keys, low, scale);
}

void draw_run_baseline(std::uint16_t* out, std::uint32_t count, DrawKeys keys, std::uint32_t low,
                       float scale) {
  draw_run(out, count, keys, low, scale);
}

void draw_normal_host(const device::LaunchDims&, const void* arguments) {
  const auto& args = *static_cast<const DrawArgs*>(arguments);
  const auto run = has_avx2() ? &draw_run_avx2 : &draw_run_baseline;
  for (std::int64_t done = 0; done < args.count;) {
    const auto index = static_cast<std::uint64_t>(args.first + done);
    const auto low = static_cast<std::uint32_t>(index);
    const std::int64_t to_next_key = (std::int64_t{1} << 32) - low;
    const std::int64_t count = std::min({args.count - done, to_next_key, std::int64_t{1} << 30});
    const DrawKeys keys = draw_keys(args.seed, static_cast<std::uint32_t>(index >> 32));
    run(args.out + done, static_cast<std::uint32_t>(count), keys, low, args.scale);
    done += count;
  }
}

}  // namespace

const device::Kernel& draw_normal_kernel() {
  static const device::Kernel kernel{"draw_normal", cuda_symbols::draw_normal(), &draw_normal_host,
                                     sizeof(DrawArgs), kFields};
  return kernel;
}

void launch_draw(device::Device& device, device::StreamRef stream, const DrawArgs& args) {
  if (args.count <= 0) return;
  device.launch(stream, draw_normal_kernel(), element_dims(args.count), &args);
}

}  // namespace graphsan::step::minimax_m3
