#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/dtype.hpp"
#include "model/facts.hpp"
#include "step/minimax_m3/op_args.hpp"
#include "step/step.hpp"

namespace graphsan::step::minimax_m3 {

/// How K, V and index-K get into their caches; see docs/minimax-m3.md.
enum class WritePath : std::uint8_t { kFused, kTwoStep, kInsertKvA, kInsertKvB };
enum class Mode : std::uint8_t {
  kPiecewise,
  kBreakable,
  kFull,
  kFullDecodeOnly,
  kFullAndPiecewise
};
/// `kPrompt`: the first step prefills a prompt with a needle in it, the others decode.
enum class Batch : std::uint8_t { kDecode, kPrefill, kMixed, kPrompt };
enum class Layout : std::uint8_t { kNhd, kHnd };
enum class Generation : std::uint8_t { kA, kB };
enum class ConvertChoice : std::uint8_t { kAuto, kNative, kSoftware };
enum class CaptureAt : std::uint8_t { kStart, kLive };
/// `kBf16Only`: the first generation of the fused op, which refuses fp8 caches.
enum class FusedOp : std::uint8_t { kAnyDtype, kBf16Only };

/// The ops that a breakable capture can run eagerly, as a set.
struct BreakSet {
  bool norm_rope = false;
  bool insert = false;
  bool indexer = false;
  bool attention = false;
  friend bool operator==(const BreakSet&, const BreakSet&) = default;
};

/// What a mode gives to one kind of step.
struct CapturePreset {
  bool covered = false;  ///< a graph is replayed for this kind of step
  BreakSet breaks;
  CaptureMetadata metadata = CaptureMetadata::kNone;
};

/// One case of the built-in step. Defaults are the command line's.
struct Config {
  model::DType kv_dtype = model::DType::kBf16;
  WritePath write_path = WritePath::kFused;
  Mode mode = Mode::kPiecewise;
  Batch batch = Batch::kDecode;
  Layout layout = Layout::kNhd;
  Generation generation = Generation::kA;
  ConvertChoice convert = ConvertChoice::kAuto;
  CaptureAt capture_at = CaptureAt::kStart;
  FusedOp fused_op = FusedOp::kAnyDtype;
  int tokens = 3;
  int bucket = 4;
  int steps = 4;
  int layers = 2;
  int tp = 8;
  int page_size = 128;
  int capture_limit = 512;
  std::int64_t context = 4096;
  std::uint64_t seed = 1;
  std::optional<BreakSet> breaks;                   ///< overrides the mode's
  std::optional<CaptureMetadata> capture_metadata;  ///< overrides the mode's
  int top_k = 16;
};

/// The configuration cannot be run; `what()` says what to change.
class ConfigError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

[[nodiscard]] std::string_view to_string(WritePath value);
[[nodiscard]] std::string_view to_string(Mode value);
[[nodiscard]] std::string_view to_string(Batch value);
[[nodiscard]] std::string_view to_string(Layout value);
[[nodiscard]] std::string_view to_string(Generation value);
[[nodiscard]] std::string_view to_string(ConvertChoice value);
[[nodiscard]] std::string_view to_string(CaptureAt value);
[[nodiscard]] std::string_view to_string(FusedOp value);
[[nodiscard]] std::string_view to_string(CaptureMetadata value);

/// Throws ConfigError unless the numbers make a step that can run: positive counts, tokens at most
/// bucket, page size 16, 32, 64 or 128, TP 1, 2, 4 or 8, context longer than the top-k selection.
void validate(const Config& config);

/// The smallest batch size of the framework's list (1, 2, 4, 8, 16, 24, 32 ... by 8) that holds
/// `tokens`.
[[nodiscard]] int bucket_for(int tokens);

/// What the configured mode does with a step of `batch` kind over `bucket` lanes.
[[nodiscard]] CapturePreset capture_preset(const Config& config, Batch batch, int bucket);

/// Head counts of one tensor-parallel rank; `sparse` layers have an indexer.
[[nodiscard]] HeadsArg heads_for(int tp, bool sparse);
/// Elements of a row of qkv.
[[nodiscard]] std::int64_t row_width(const HeadsArg& heads);
/// One layer: sparse. Below six: the first is dense. Else the first three are.
[[nodiscard]] bool is_sparse_layer(int layer, int layers);

/// Bytes that one token takes in the main K/V and index-K caches of all layers.
[[nodiscard]] std::uint64_t bytes_per_token(const Config& config);

}  // namespace graphsan::step::minimax_m3
