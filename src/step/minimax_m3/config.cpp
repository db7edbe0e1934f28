#include "step/minimax_m3/config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graphsan::step::minimax_m3 {

std::string_view to_string(WritePath value) {
  switch (value) {
    case WritePath::kFused:
      return "fused";
    case WritePath::kTwoStep:
      return "two-step";
    case WritePath::kInsertKvA:
      return "insert-kv-a";
    case WritePath::kInsertKvB:
      return "insert-kv-b";
  }
  return "";
}

std::string_view to_string(Mode value) {
  switch (value) {
    case Mode::kPiecewise:
      return "piecewise";
    case Mode::kBreakable:
      return "breakable";
    case Mode::kFull:
      return "full";
    case Mode::kFullDecodeOnly:
      return "full-decode-only";
    case Mode::kFullAndPiecewise:
      return "full-and-piecewise";
  }
  return "";
}

std::string_view to_string(Batch value) {
  switch (value) {
    case Batch::kDecode:
      return "decode";
    case Batch::kPrefill:
      return "prefill";
    case Batch::kMixed:
      return "mixed";
    case Batch::kPrompt:
      return "prompt";
  }
  return "";
}

std::string_view to_string(Layout value) { return value == Layout::kNhd ? "nhd" : "hnd"; }

std::string_view to_string(Generation value) { return value == Generation::kA ? "a" : "b"; }

std::string_view to_string(ConvertChoice value) {
  switch (value) {
    case ConvertChoice::kAuto:
      return "auto";
    case ConvertChoice::kNative:
      return "native";
    case ConvertChoice::kSoftware:
      return "software";
  }
  return "";
}

std::string_view to_string(CaptureAt value) {
  return value == CaptureAt::kStart ? "start" : "live";
}

std::string_view to_string(FusedOp value) {
  return value == FusedOp::kAnyDtype ? "any-dtype" : "bf16-only";
}

std::string_view to_string(CaptureMetadata value) {
  switch (value) {
    case CaptureMetadata::kNone:
      return "none";
    case CaptureMetadata::kDummy:
      return "dummy";
    case CaptureMetadata::kLive:
      return "live";
  }
  return "";
}

namespace {

void require(bool condition, const std::string& message) {
  if (!condition) throw ConfigError{message};
}

}  // namespace

void validate(const Config& c) {
  require(c.steps >= 1, "--steps must be at least 1: with no step nothing would be compared");
  require(c.tokens >= 1, "--tokens must be at least 1");
  require(c.bucket >= c.tokens,
          fmt::format("--bucket {} is smaller than --tokens {}: a bucket holds the real lanes and "
                      "the padding; give at least {}",
                      c.bucket, c.tokens, bucket_for(c.tokens)));
  require(c.layers >= 1, "--layers must be at least 1");
  require(c.tp == 1 || c.tp == 2 || c.tp == 4 || c.tp == 8, "--tp must be 1, 2, 4 or 8");
  require(c.page_size == 16 || c.page_size == 32 || c.page_size == 64 || c.page_size == 128,
          fmt::format("--page-size {} is not supported; use 16, 32, 64 or 128", c.page_size));
  require(c.context >= 2, "--context must be at least 2");
  require(c.context <= 1'048'576, "--context must be at most 1048576, the model's longest");
  require(c.capture_limit >= 1, "--capture-limit must be at least 1");
  const bool fp8 = c.kv_dtype != model::DType::kBf16;
  require(!(fp8 && c.write_path == WritePath::kFused && c.fused_op == FusedOp::kBf16Only),
          "kv_cache dtype must match qkv (bf16 cache only): the first-generation fused op refuses "
          "an fp8 cache; use --write-path two-step, or --fused-op any-dtype");
}

int bucket_for(int tokens) {
  if (tokens <= 1) return 1;
  if (tokens <= 2) return 2;
  if (tokens <= 4) return 4;
  return (tokens + 7) / 8 * 8;
}

CapturePreset capture_preset(const Config& config, Batch batch, int bucket) {
  const bool decode = batch == Batch::kDecode;
  const BreakSet piecewise{.indexer = true, .attention = true};
  CapturePreset preset;
  switch (config.mode) {
    case Mode::kPiecewise:
      preset = {true, piecewise, CaptureMetadata::kNone};
      break;
    case Mode::kBreakable:
      preset = {true,
                {.norm_rope = false, .insert = true, .indexer = true, .attention = true},
                CaptureMetadata::kNone};
      break;
    case Mode::kFull:
      preset = {true, {}, CaptureMetadata::kDummy};
      break;
    case Mode::kFullDecodeOnly:
      preset = {decode, {}, CaptureMetadata::kDummy};
      break;
    case Mode::kFullAndPiecewise:
      preset = decode ? CapturePreset{true, {}, CaptureMetadata::kDummy}
                      : CapturePreset{true, piecewise, CaptureMetadata::kNone};
      break;
  }
  if (bucket > config.capture_limit) preset.covered = false;
  if (config.breaks) preset.breaks = *config.breaks;
  if (config.capture_metadata) preset.metadata = *config.capture_metadata;
  return preset;
}

HeadsArg heads_for(int tp, bool sparse) {
  const int kv = std::max(1, 4 / tp);
  return {.q = 64 / tp, .kv = kv, .index_q = sparse ? kv : 0, .index_k = sparse ? 1 : 0};
}

std::int64_t row_width(const HeadsArg& heads) {
  return static_cast<std::int64_t>(heads.q + 2 * heads.kv + heads.index_q + heads.index_k) *
         kHeadDim;
}

bool is_sparse_layer(int layer, int layers) {
  if (layers == 1) return true;
  return layer >= (layers < 6 ? 1 : 3);
}

std::uint64_t bytes_per_token(const Config& config) {
  std::uint64_t bytes = 0;
  for (int layer = 0; layer < config.layers; ++layer) {
    const bool sparse = is_sparse_layer(layer, config.layers);
    const HeadsArg heads = heads_for(config.tp, sparse);
    bytes +=
        2ULL * static_cast<std::uint64_t>(heads.kv) * kHeadDim * model::byte_size(config.kv_dtype);
    if (sparse) bytes += kHeadDim * model::byte_size(model::DType::kBf16);
  }
  return bytes;
}

}  // namespace graphsan::step::minimax_m3
