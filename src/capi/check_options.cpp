#include "capi/check_options.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "check/plugin_case.hpp"
#include "check/utc_now.hpp"
#include "step/plugin/abi_struct.hpp"

namespace graphsan::capi {

namespace {

template <typename Value>
struct Word {
  std::string_view word;
  Value value;
};

/// The value of an option's word; the first where there is none.
template <typename Value, std::size_t kCount>
Value value_of(const char* option, const char* word, const std::array<Word<Value>, kCount>& words) {
  if (word == nullptr || *word == '\0') return words.front().value;
  std::string known;
  for (const Word<Value>& one : words) {
    if (one.word == word) return one.value;
    known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", one.word);
  }
  throw BadCall{fmt::format("{} is \"{}\"; it can be {}", option, word, known)};
}

constexpr std::array<Word<check::DeviceChoice>, 3> kDevices{{{"auto", check::DeviceChoice::kAuto},
                                                             {"cuda", check::DeviceChoice::kCuda},
                                                             {"host", check::DeviceChoice::kHost}}};
constexpr std::array<Word<step::CaptureMetadata>, 2> kMetadata{
    {{"dummy", step::CaptureMetadata::kDummy}, {"none", step::CaptureMetadata::kNone}}};
constexpr std::array<Word<step::minimax_m3::CaptureAt>, 2> kCaptureTimes{
    {{"start", step::minimax_m3::CaptureAt::kStart}, {"live", step::minimax_m3::CaptureAt::kLive}}};

/// A copy of a struct of the caller's release: what an older one lacks stays zero, and what a newer
/// one has may not be set.
graphsan_check_options known_part(const graphsan_check_options* given) {
  if (given == nullptr) return {};
  if (given->struct_size < sizeof(given->struct_size)) {
    throw BadCall{"options: struct_size is not set; set it to sizeof(graphsan_check_options)"};
  }
  if (step::plugin::sets_unknown(given, given->struct_size, sizeof(*given))) {
    throw BadCall{
        fmt::format("options: the {} bytes of a newer <graphsan/check.h> set what release {} of "
                    "the library does not know; use a newer library",
                    given->struct_size, GRAPHSAN_VERSION)};
  }
  return step::plugin::known_part<graphsan_check_options>(given, given->struct_size);
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

check::DeviceChoice device_choice(const char* word) { return value_of("device", word, kDevices); }

check::CheckOptions check_options(const graphsan_plugin_table* step,
                                  const graphsan_check_options* options) {
  if (step == nullptr) throw BadCall{"step is null: give the step's table of functions"};
  const graphsan_check_options given = known_part(options);
  check::CheckOptions all;
  all.device = device_choice(given.device);
  all.factory = check::handed_over_step(*step);
  all.admit = {};
  all.error_budgets = false;
  all.command = "graphsan_check()";
  all.started_at = check::utc_now();
  if (const std::string record = text_of(given.record); !record.empty()) all.recording = record;
  check::CaseRequest request;
  request.plugin = text_of(step->name).empty() ? "step" : text_of(step->name);
  request.handed_over = true;
  request.plugin_options = text_of(given.step_options);
  request.carry = given.carry != 0;
  request.config.seed = given.seed == 0 ? 1 : static_cast<std::uint64_t>(given.seed);
  request.config.capture_metadata = value_of("capture_metadata", given.capture_metadata, kMetadata);
  request.config.capture_at = value_of("capture_at", given.capture_at, kCaptureTimes);
  request.group = "step";
  all.cases = {std::move(request)};
  return all;
}

}  // namespace graphsan::capi
