#include "device/cuda/cuda_device.hpp"
#include "device/host/host_device.hpp"
#include "step/minimax_m3/head_role.hpp"
#include "tests/support/minimax_m3_golden_reads.hpp"
#include "tests/support/minimax_m3_golden_writes.hpp"
#include "tests/support/minimax_m3_ops_launches.hpp"
#include "tests/support/minimax_m3_ops_reads.hpp"
#include "tests/support/minimax_m3_ops_select.hpp"
#include "tests/support/minimax_m3_ops_writes.hpp"

namespace graphsan::test {
namespace {

DeviceUnderTest cuda() {
  return {"cuda", []() -> std::unique_ptr<device::Device> {
            if (!device::cuda_availability().available) return nullptr;
            return device::make_cuda_device(0);
          }};
}

/// The ops that promise equal bits on both devices.
class MiniMaxM3HostAndCuda : public OpTest {
 protected:
  struct FusedShape {
    m3::HeadsArg heads;
    std::int32_t page_size;
    KvArrangement arrangement;
    model::DType dtype;
    int tokens;
  };

  /// Every byte that draw, mix, the fused op and its outputs leave behind.
  static std::vector<std::byte> run(DeviceArena& arena, const FusedShape& shape,
                                    m3::Conversion conversion) {
    const auto tokens = static_cast<std::size_t>(shape.tokens);
    const auto heads = static_cast<std::size_t>(m3::head_count(shape.heads));
    const std::size_t width = heads * m3::kHeadDim;
    const auto draw = [&](std::size_t count, std::uint64_t seed) {
      auto* out = arena.make<std::uint16_t>(count);
      m3::launch_draw(arena.device(), arena.stream(),
                      {out, static_cast<std::int64_t>(count), 99, seed, 1.0F});
      return out;
    };
    auto* qkv = draw(tokens * width, 1);
    const std::size_t q_width = static_cast<std::size_t>(shape.heads.q) * m3::kHeadDim;
    m3::launch_mix(arena.device(), arena.stream(),
                   {qkv, draw(tokens * q_width, 2), qkv, static_cast<std::int64_t>(width),
                    static_cast<std::int64_t>(q_width), shape.tokens, 0.25F});
    KvPool pool{arena, shape.dtype, 5, shape.page_size, shape.heads.kv, shape.arrangement};
    const std::int64_t slots = pool.arg.slots;
    std::vector<std::int64_t> targets(tokens);
    std::vector<std::int64_t> positions(tokens);
    for (std::size_t t = 0; t < tokens; ++t) {
      const auto index = static_cast<std::int64_t>(t);
      targets[t] = t % 5 == 4 ? -1 : index * 7 % slots;
      positions[t] = t % 7 == 6 ? -1 : index;
    }
    m3::NormRopeArgs args{};
    args.qkv = qkv;
    args.q_out = arena.make<std::uint16_t>(tokens * q_width);
    args.index_q_out = arena.make<std::uint16_t>(tokens * shape.heads.index_q * m3::kHeadDim);
    args.w_q = draw(128, 3);
    args.w_k = draw(128, 4);
    args.w_index_q = draw(128, 5);
    args.w_index_k = draw(128, 6);
    args.positions = arena.upload(positions);
    args.cos_sin = draw(tokens * 64, 7);
    args.slots = arena.upload(targets);
    args.index_slots = args.slots;
    args.k_scale = arena.upload(std::vector<float>{0.5F});
    args.v_scale = arena.upload(std::vector<float>{0.37F});
    args.cache = pool.arg;
    args.cache.conversion = conversion;
    auto* index = arena.make<std::uint16_t>(static_cast<std::size_t>(slots) * m3::kHeadDim);
    args.index_cache = {index, slots};
    args.heads = shape.heads;
    args.row_width = static_cast<std::int64_t>(width);
    args.tokens = shape.tokens;
    m3::launch_norm_rope(arena.device(), arena.stream(), args);
    pool.download();
    std::vector<std::byte> all = pool.bytes;
    const auto append = [&](const std::uint16_t* address, std::size_t count) {
      const auto words = arena.download(address, count);
      const auto bytes = std::as_bytes(std::span{words});
      all.insert(all.end(), bytes.begin(), bytes.end());
    };
    append(qkv, tokens * width);
    append(args.q_out, tokens * q_width);
    append(args.index_q_out, tokens * shape.heads.index_q * m3::kHeadDim);
    append(index, static_cast<std::size_t>(slots) * m3::kHeadDim);
    return all;
  }
};

TEST_P(MiniMaxM3HostAndCuda, DrawMixNormRopeAndInsertGiveEqualBytes) {
  for (const m3::HeadsArg& heads :
       {m3::HeadsArg{64, 4, 4, 1}, {32, 2, 2, 1}, {16, 1, 1, 1}, {8, 1, 1, 1}}) {
    for (const std::int32_t page_size : {16, 32, 64, 128}) {
      for (const auto arrangement :
           {KvArrangement::kNhd, KvArrangement::kHnd, KvArrangement::kInterleaved}) {
        for (const GoldenDtype& dtype : golden_dtypes()) {
          const FusedShape shape{heads, page_size, arrangement, dtype.dtype, 11};
          DeviceArena host{device::make_host_device({})};
          const auto expected = run(host, shape, m3::Conversion::kSoftware);
          for (const auto conversion : {m3::Conversion::kSoftware, m3::Conversion::kNative}) {
            EXPECT_EQ(run(arena(), shape, conversion), expected)
                << dtype.name << ", page size " << page_size << ", q " << heads.q;
          }
        }
      }
    }
  }
}

/// Scores and attention may differ by rounding; what they select may not when scores are apart.
TEST_P(MiniMaxM3HostAndCuda, ReadersAgreeWithinRounding) {
  for (const auto& [q, kv] :
       std::vector<std::pair<std::int32_t, std::int32_t>>{{64, 4}, {32, 2}, {16, 1}, {8, 1}}) {
    for (const GoldenDtype& dtype : golden_dtypes()) {
      const SceneShape shape{.q_heads = q, .kv_heads = kv, .page_size = 64, .dtype = dtype.dtype};
      const std::vector<SceneLane> lanes{
          {0, 1000, 0}, {0, 1001, 1}, {1, 600, 2}, {0, 0, 3}, {1, 1024, 4}};
      DeviceArena host{device::make_host_device({})};
      Scene on_host{host, shape, lanes};
      Scene on_cuda{arena(), shape, lanes};
      const auto host_scores = on_host.scores();
      const auto cuda_scores = on_cuda.scores();
      for (std::size_t i = 0; i < host_scores.size(); ++i) {
        if (std::isnan(host_scores[i])) {
          EXPECT_TRUE(std::isnan(cuda_scores[i]));
        } else {
          EXPECT_NEAR(cuda_scores[i], host_scores[i], 1e-4);
        }
      }
      EXPECT_EQ(on_cuda.select(), on_host.select());
      for (const bool sparse : {true, false}) {
        const auto host_out = on_host.attend(sparse);
        const auto cuda_out = on_cuda.attend(sparse);
        for (std::size_t i = 0; i < host_out.size(); ++i) {
          const float expected = m3::bf16_to_float(host_out[i]);
          ASSERT_NEAR(m3::bf16_to_float(cuda_out[i]), expected,
                      1e-5 + 8e-3 * std::abs(expected));  // one bf16 ulp
        }
      }
    }
  }
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Cuda, MiniMaxM3GoldenReads, ::testing::Values(cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, MiniMaxM3GoldenWrites, ::testing::Values(cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, MiniMaxM3HostAndCuda, ::testing::Values(cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, MiniMaxM3Launches, ::testing::Values(cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, MiniMaxM3Reads, ::testing::Values(cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, MiniMaxM3Selection, ::testing::Values(cuda()));
INSTANTIATE_TEST_SUITE_P(Cuda, MiniMaxM3Writes, ::testing::Values(cuda()));

}  // namespace graphsan::test
