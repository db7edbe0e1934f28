#include "cli/words.hpp"

namespace graphsan::cli {

check::DeviceChoice parse_device(const std::string& word) {
  if (word == "auto") return check::DeviceChoice::kAuto;
  if (word == "cuda") return check::DeviceChoice::kCuda;
  if (word == "host") return check::DeviceChoice::kHost;
  throw BadUsage{fmt::format("--device: unknown value '{}'; use one of: auto, cuda, host", word)};
}

model::DType parse_kv_dtype(const std::string& word) {
  for (const model::DType dtype :
       {model::DType::kBf16, model::DType::kFp8E4M3, model::DType::kFp8E5M2}) {
    if (model::to_string(dtype) == word) return dtype;
  }
  throw BadUsage{
      fmt::format("--kv-dtype: unknown value '{}'; use one of: bf16, fp8_e4m3, fp8_e5m2", word)};
}

step::minimax_m3::BreakSet parse_breaks(const std::vector<std::string>& words) {
  step::minimax_m3::BreakSet breaks;
  for (const std::string& word : words) {
    if (word == "norm-rope") {
      breaks.norm_rope = true;
    } else if (word == "insert") {
      breaks.insert = true;
    } else if (word == "indexer") {
      breaks.indexer = true;
    } else if (word == "attention") {
      breaks.attention = true;
    } else if (word != "none") {
      throw BadUsage{fmt::format(
          "--break: unknown op '{}'; use a list of: norm-rope, insert, indexer, attention, or none",
          word)};
    }
  }
  return breaks;
}

}  // namespace graphsan::cli
