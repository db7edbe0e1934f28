#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/numeric.hpp"
#include "step/minimax_m3/ops.hpp"
#include "tests/support/kv_pool.hpp"
#include "tests/support/safetensors.hpp"

// The writing ops against outputs of the public upstream kernels.
namespace graphsan::test {

namespace m3 = step::minimax_m3;

struct GoldenDtype {
  std::string name;
  model::DType dtype;
};

inline std::vector<GoldenDtype> golden_dtypes() {
  return {{"auto", model::DType::kBf16},
          {"fp8_e4m3", model::DType::kFp8E4M3},
          {"fp8_e5m2", model::DType::kFp8E5M2}};
}

inline std::vector<std::uint16_t> bf16_tensor(const SafeTensors& file, const std::string& name) {
  return file.get<std::uint16_t>(name);
}

/// Bytes of a tensor of cache rows, whatever its element.
inline std::vector<std::byte> row_bytes(const SafeTensors& file, const std::string& name,
                                        model::DType dtype) {
  if (dtype != model::DType::kBf16) return file.get<std::byte>(name);
  const std::vector<std::uint16_t> words = file.get<std::uint16_t>(name);
  std::vector<std::byte> bytes(words.size() * 2);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

/// Largest distance in representable values.
inline std::int64_t largest_distance(model::DType dtype, std::span<const std::byte> a,
                                     std::span<const std::byte> b) {
  const std::size_t element = dtype == model::DType::kBf16 ? 2 : 1;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < a.size(); i += element) {
    largest = std::max(largest,
                       model::code_distance(dtype, a.subspan(i, element), b.subspan(i, element)));
  }
  return largest;
}

inline std::int64_t largest_distance(std::span<const std::uint16_t> a,
                                     std::span<const std::uint16_t> b) {
  return largest_distance(model::DType::kBf16, std::as_bytes(a), std::as_bytes(b));
}

/// Compares the rows that `slots` name with golden rows [written token, K|V, head, 128], K within
/// `key_tolerance` codes and V exactly; then blanks them, so that what is left must be untouched.
inline void expect_rows(KvPool& pool, const std::vector<std::int64_t>& slots,
                        const std::vector<std::byte>& golden, std::int64_t key_tolerance) {
  const std::size_t run = pool.run_bytes();
  std::size_t offset = 0;
  for (const std::int64_t slot : slots) {
    if (slot < 0) continue;
    for (const bool value : {false, true}) {
      for (std::int32_t head = 0; head < pool.arg.heads; ++head, offset += run) {
        const std::span<std::byte> stored{pool.run(value, slot, head), run};
        const auto expected = std::span{golden}.subspan(offset, run);
        EXPECT_LE(largest_distance(pool.arg.dtype, stored, expected), value ? 0 : key_tolerance)
            << (value ? "V" : "K") << " of slot " << slot << ", head " << head;
        std::fill(stored.begin(), stored.end(), std::byte{0xFF});
      }
    }
  }
  EXPECT_EQ(offset, golden.size());
  const auto untouched = [](std::byte byte) { return byte == std::byte{0xFF}; };
  EXPECT_TRUE(std::all_of(pool.bytes.begin(), pool.bytes.end(), untouched));
}

class MiniMaxM3GoldenWrites : public OpTest {
 protected:
  void check_reshape_and_cache(const SafeTensors& file, const std::string& prefix,
                               std::int32_t page_size, const GoldenDtype& dtype,
                               const std::string& scales, float k_scale, float v_scale) {
    SCOPED_TRACE(prefix + dtype.name + scales);
    constexpr std::int64_t kWidth = 1280;
    constexpr std::int32_t kHeads = 4;
    const auto slots = file.get<std::int64_t>(prefix + "slots");
    const std::uint16_t* row = arena().upload(bf16_tensor(file, prefix + "row"));
    KvPool pool{arena(), dtype.dtype, 5, page_size, kHeads};
    m3::ReshapeAndCacheArgs args{};
    args.key = row;
    args.value = row + kHeads * m3::kHeadDim;
    args.key_stride = kWidth;
    args.value_stride = kWidth;
    args.slots = arena().upload(slots);
    args.k_scale = arena().upload(std::vector<float>{k_scale});
    args.v_scale = arena().upload(std::vector<float>{v_scale});
    args.cache = pool.arg;
    args.tokens = static_cast<std::int32_t>(slots.size());
    args.scale_count = 1;
    for (const auto conversion : {m3::Conversion::kSoftware, m3::Conversion::kNative}) {
      args.cache.conversion = conversion;
      std::fill(pool.bytes.begin(), pool.bytes.end(), std::byte{0xFF});
      pool.upload();
      m3::launch_reshape_and_cache(device(), stream(), args);
      pool.download();
      expect_rows(pool, slots, row_bytes(file, prefix + dtype.name + scales, dtype.dtype), 0);
    }
  }

  /// Inputs and outputs of the fused op as one case of the golden file.
  struct Fused {
    m3::NormRopeArgs args{};
    std::vector<std::int64_t> slots;
    std::vector<std::int64_t> index_slots;
    std::uint16_t* index_cache = nullptr;
  };

  static constexpr std::int64_t kIndexSlots = 3 * 128;

  [[nodiscard]] Fused load_fused(const SafeTensors& file, const std::string& tp,
                                 m3::HeadsArg heads) {
    Fused fused;
    const auto tokens = file.get<std::int64_t>(tp + ".positions").size();
    std::vector<std::int64_t> table_rows(tokens);
    for (std::size_t t = 0; t < tokens; ++t) table_rows[t] = static_cast<std::int64_t>(t);
    fused.slots = file.get<std::int64_t>(tp + ".slots");
    fused.index_slots = file.get<std::int64_t>(tp + ".index_slots");
    fused.index_cache = arena().make<std::uint16_t>(kIndexSlots * m3::kHeadDim);
    m3::NormRopeArgs& args = fused.args;
    args.qkv = arena().upload(bf16_tensor(file, tp + ".qkv"));
    args.q_out = arena().make<std::uint16_t>(tokens * heads.q * m3::kHeadDim);
    args.index_q_out = arena().make<std::uint16_t>(tokens * heads.index_q * m3::kHeadDim);
    args.w_q = arena().upload(bf16_tensor(file, tp + ".w_q"));
    args.w_k = arena().upload(bf16_tensor(file, tp + ".w_k"));
    args.w_index_q = arena().upload(bf16_tensor(file, tp + ".w_iq"));
    args.w_index_k = arena().upload(bf16_tensor(file, tp + ".w_ik"));
    args.positions = arena().upload(table_rows);
    args.cos_sin = arena().upload(bf16_tensor(file, tp + ".cos_sin_used"));
    args.heads = heads;
    args.row_width = (heads.q + 2 * heads.kv + heads.index_q + heads.index_k) * m3::kHeadDim;
    args.tokens = static_cast<std::int32_t>(tokens);
    return fused;
  }

  void expect_normed(const SafeTensors& file, const std::string& tp, const Fused& fused,
                     const std::string& qkv_after) {
    const auto& args = fused.args;
    const auto q = bf16_tensor(file, tp + ".q_out");
    const auto index_q = bf16_tensor(file, tp + ".index_q_out");
    const auto row = bf16_tensor(file, tp + qkv_after);
    EXPECT_LE(largest_distance(arena().download(args.q_out, q.size()), q), 1);
    EXPECT_LE(largest_distance(arena().download(args.index_q_out, index_q.size()), index_q), 1);
    EXPECT_LE(largest_distance(arena().download(args.qkv, row.size()), row), 1);
  }

  void expect_index_rows(const SafeTensors& file, const std::string& name, const Fused& fused) {
    const auto golden = bf16_tensor(file, name);
    auto cache = arena().download(fused.index_cache, kIndexSlots * m3::kHeadDim);
    std::size_t offset = 0;
    for (const std::int64_t slot : fused.index_slots) {
      if (slot < 0) continue;
      const auto stored = std::span{cache}.subspan(slot * m3::kHeadDim, m3::kHeadDim);
      EXPECT_LE(largest_distance(stored, std::span{golden}.subspan(offset, m3::kHeadDim)), 1);
      std::fill(stored.begin(), stored.end(), std::uint16_t{0xFFFF});
      offset += m3::kHeadDim;
    }
    EXPECT_EQ(offset, golden.size());
    EXPECT_EQ(cache, std::vector<std::uint16_t>(cache.size(), 0xFFFF));
  }

  void check_fused(const SafeTensors& file, const std::string& tp, m3::HeadsArg heads,
                   const GoldenDtype& dtype) {
    SCOPED_TRACE(tp + "." + dtype.name);
    Fused fused = load_fused(file, tp, heads);
    KvPool pool{arena(), dtype.dtype, 3, 128, heads.kv};
    fused.args.cache = pool.arg;
    fused.args.index_cache = {fused.index_cache, kIndexSlots};
    fused.args.slots = arena().upload(fused.slots);
    fused.args.index_slots = arena().upload(fused.index_slots);
    m3::launch_norm_rope(device(), stream(), fused.args);
    pool.download();
    expect_rows(pool, fused.slots, row_bytes(file, tp + "." + dtype.name + ".kv_rows", dtype.dtype),
                1);
    expect_index_rows(file, tp + "." + dtype.name + ".index_rows", fused);
    expect_normed(file, tp, fused, ".qkv_after");
  }

  void check_two_step(const SafeTensors& file, const std::string& tp, m3::HeadsArg heads,
                      const GoldenDtype& dtype) {
    SCOPED_TRACE(tp + ".two_step." + dtype.name);
    const Fused fused = load_fused(file, tp, heads);
    m3::launch_norm_rope(device(), stream(), fused.args);
    expect_normed(file, tp, fused, ".norm_rope_only.qkv_after");
    KvPool pool{arena(), dtype.dtype, 3, 128, heads.kv};
    m3::ReshapeAndCacheArgs args{};
    args.key = fused.args.qkv + heads.q * m3::kHeadDim;
    args.value = args.key + heads.kv * m3::kHeadDim;
    args.key_stride = fused.args.row_width;
    args.value_stride = fused.args.row_width;
    args.slots = arena().upload(fused.slots);
    args.cache = pool.arg;
    args.tokens = fused.args.tokens;
    args.scale_count = 1;
    m3::launch_reshape_and_cache(device(), stream(), args);
    pool.download();
    expect_rows(pool, fused.slots,
                row_bytes(file, tp + ".two_step." + dtype.name + ".kv_rows", dtype.dtype), 1);
  }
};

TEST_P(MiniMaxM3GoldenWrites, ReshapeAndCacheStoresTheUpstreamBytesAndNothingElse) {
  const SafeTensors file{"reshape_and_cache_flash.safetensors"};
  for (const std::int32_t page_size : {16, 128}) {
    const std::string prefix = "b" + std::to_string(page_size) + ".";
    for (const GoldenDtype& dtype : golden_dtypes()) {
      check_reshape_and_cache(file, prefix, page_size, dtype, ".ks1.0.vs1.0.rows", 1.0F, 1.0F);
      if (dtype.dtype == model::DType::kBf16) continue;
      check_reshape_and_cache(file, prefix, page_size, dtype, ".ks0.5.vs0.37.rows", 0.5F, 0.37F);
    }
  }
}

TEST_P(MiniMaxM3GoldenWrites, FusedOpStoresTheUpstreamRowsAndNothingElse) {
  const SafeTensors file{"fused_qknorm_rope_kv_insert.safetensors"};
  for (const GoldenDtype& dtype : golden_dtypes()) {
    check_fused(file, "tp8", {8, 1, 1, 1}, dtype);
    check_fused(file, "tp1", {64, 4, 4, 1}, dtype);
  }
}

TEST_P(MiniMaxM3GoldenWrites, TwoStepPathStoresTheUpstreamRows) {
  const SafeTensors file{"fused_qknorm_rope_kv_insert.safetensors"};
  for (const GoldenDtype& dtype : golden_dtypes()) {
    if (dtype.dtype == model::DType::kBf16) continue;
    check_two_step(file, "tp8", {8, 1, 1, 1}, dtype);
    check_two_step(file, "tp1", {64, 4, 4, 1}, dtype);
  }
}

TEST_P(MiniMaxM3GoldenWrites, EveryBf16PatternIsStoredAsTheUpstreamByteByBothConversions) {
  const SafeTensors file{"fp8_codes.safetensors"};
  const auto patterns = bf16_tensor(file, "bf16_bits");
  constexpr std::int32_t kTokens = 512;
  ASSERT_EQ(patterns.size(), kTokens * m3::kHeadDim);
  std::vector<std::int64_t> slots(kTokens);
  std::iota(slots.begin(), slots.end(), 0);
  m3::ReshapeAndCacheArgs args{};
  args.key = arena().upload(patterns);
  args.value = args.key;
  args.key_stride = m3::kHeadDim;
  args.value_stride = m3::kHeadDim;
  args.slots = arena().upload(slots);
  args.tokens = kTokens;
  args.scale_count = 1;
  const std::vector<std::pair<std::string, float>> scales{
      {"1", 1.0F}, {"0p37", 0.37F}, {"3", 3.0F}};
  for (const GoldenDtype& dtype : golden_dtypes()) {
    if (dtype.dtype == model::DType::kBf16) continue;
    for (const auto& [name, scale] : scales) {
      const auto codes = file.get<std::byte>(dtype.name + "_scale_" + name);
      args.k_scale = arena().upload(std::vector<float>{scale});
      args.v_scale = args.k_scale;
      for (const auto conversion : {m3::Conversion::kSoftware, m3::Conversion::kNative}) {
        KvPool pool{arena(), dtype.dtype, 4, 128, 1};
        args.cache = pool.arg;
        args.cache.conversion = conversion;
        m3::launch_reshape_and_cache(device(), stream(), args);
        pool.download();
        for (std::int64_t t = 0; t < kTokens; ++t) {
          ASSERT_EQ(std::memcmp(pool.run(false, t, 0), &codes[t * m3::kHeadDim], m3::kHeadDim), 0);
          ASSERT_EQ(std::memcmp(pool.run(true, t, 0), &codes[t * m3::kHeadDim], m3::kHeadDim), 0);
        }
      }
    }
  }
}

}  // namespace graphsan::test
