#include "step/plugin/plugin_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>

#include "step/plugin/abi_struct.hpp"
#include "step/plugin/cache_extent.hpp"
#include "step/plugin/captured_plugin.hpp"
#include "step/plugin/plugin_error.hpp"
#include "step/plugin/plugin_views.hpp"

namespace graphsan::step::plugin {

namespace {

template <typename Struct>
Struct sized() {
  Struct made{};
  made.struct_size = sizeof(made);
  return made;
}

/// Entry `i` of an array whose entries have the size that the plug-in was built with: what an older
/// header did not know stays zero.
template <typename Struct>
Struct entry(const Struct* array, std::int32_t i, const char* what) {
  if (array == nullptr)
    throw PluginFailure{fmt::format("{}: declared, and the array is null", what)};
  const std::size_t size = array->struct_size;
  if (size < sizeof(std::size_t)) {
    throw PluginFailure{fmt::format("{}: struct_size of the first is not set", what)};
  }
  const auto* place =
      reinterpret_cast<const std::byte*>(array) + static_cast<std::size_t>(i) * size;
  if (sets_unknown(place, size, sizeof(Struct))) {
    throw PluginFailure{
        fmt::format("{}: entry {}, of a newer <graphsan/plugin.h>, sets what this release does not "
                    "know; use a newer GraphSan",
                    what, i)};
  }
  return known_part<Struct>(place, size);
}

/// What rows hold before anything is written: finite in every dtype, and no zero, so that a stray
/// write of zeros shows.
constexpr std::uint8_t kUnwritten = 0x3C;

std::string_view word(std::int32_t arm) {
  switch (static_cast<graphsan_arm>(arm)) {
    case GRAPHSAN_EAGER:
      return "eager";
    case GRAPHSAN_PADDED_EAGER:
      return "padded-eager";
    case GRAPHSAN_GRAPH:
      return "graph";
  }
  return "unknown";
}

std::string text_of(const char* function, const graphsan_call& call) {
  return fmt::format("{}() of {}, {} arm{}", function,
                     call.step < 0 ? fmt::format("a dummy batch of {}", call.bucket)
                                   : fmt::format("step {}", call.step),
                     word(call.arm), call.capturing != 0 ? ", while capturing" : "");
}

/// What an output is in every arm, wherever it lies.
std::string identity(const model::CacheLayout& layout) {
  return fmt::format("`{}` ({} of layer {}, {} heads of {} {})", layout.name,
                     to_string(layout.kind), layout.layer, layout.heads, layout.dim,
                     to_string(layout.dtype));
}

std::string list(const std::vector<std::string>& words) {
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

/// Lanes that a call's buffers hold.
std::int64_t lanes_of(const graphsan_call& call) {
  return call.arm == GRAPHSAN_EAGER ? call.tokens : call.bucket;
}

}  // namespace

PluginStep::PluginStep(device::Device& device, std::shared_ptr<const PluginLibrary> library,
                       PluginOptions options)
    : device_{&device},
      library_{std::move(library)},
      options_{std::move(options)},
      setup_stream_{device.create_stream()},
      host_{std::make_unique<PluginHost>(device, setup_stream_.get())} {
  try {
    create();
    describe();
  } catch (...) {
    destroy();
    throw;
  }
}

PluginStep::~PluginStep() { destroy(); }

void PluginStep::destroy() noexcept {
  try {
    if (self_ != nullptr) library_->table().destroy(self_);
  } catch (...) {
    // The step is given up either way, and a destructor has nobody to tell.
  }
  self_ = nullptr;
}

template <typename Function, typename... Arguments>
void PluginStep::call(const std::string& what, Function function, Arguments... arguments) const {
  host_->begin_call();
  int status = 0;
  try {
    status = function(arguments...);
  } catch (const std::exception& error) {
    throw PluginFailure{
        fmt::format("{}: {} threw an exception, which may not leave a "
                    "plug-in: {}",
                    library_->title(), what, error.what())};
  } catch (...) {
    throw PluginFailure{
        fmt::format("{}: {} threw something that is no std::exception", library_->title(), what)};
  }
  const std::string why = host_->why();
  try {
    host_->end_call();
  } catch (const PluginFailure& failure) {
    throw PluginFailure{fmt::format("{}: {}: {}", library_->title(), what, failure.what())};
  } catch (const device::DeviceError& error) {
    throw device::DeviceError{error.kind(),
                              fmt::format("{}: {}: {}", library_->title(), what, error.what())};
  }
  if (status == 0) return;
  throw PluginFailure{fmt::format("{}: {} returned {}{}", library_->title(), what, status,
                                  why.empty() ? " and did not say why" : ": " + why)};
}

void PluginStep::create() {
  host_->set_may_allocate(true);
  const auto made = [this] {
    void* self = nullptr;
    const int status = library_->table().create(host_->table(), options_.text.c_str(), &self);
    if (status == 0) self_ = self;  // else it is create()'s own to free
    return status;
  };
  call("create()", made);
  host_->set_may_allocate(false);
  if (self_ == nullptr) {
    throw PluginFailure{fmt::format("{}: create() made no step", library_->title())};
  }
}

void PluginStep::describe() {
  auto declared = sized<graphsan_description>();
  call("describe()", library_->table().describe, self_, &declared);
  description_.name = declared.name == nullptr ? library_->name() : declared.name;
  description_.steps = declared.steps;
  description_.selects_blocks = declared.top_k > 0;
  description_.top_k = declared.top_k;
  description_.block_size = declared.block_size;
  description_.follows_reference = false;
  if (declared.steps < 1 || declared.cache_count < 1) {
    throw PluginFailure{fmt::format(
        "{}: describe() declares {} steps and {} caches; at least one of each is needed, "
        "and two steps to prove anything",
        library_->title(), declared.steps, declared.cache_count)};
  }
  std::set<std::string> names;
  for (std::int32_t i = 0; i < declared.cache_count; ++i) {
    kvcache::CacheView view = cache_view(entry(declared.caches, i, "caches"));
    if (!names.insert(view.layout.name).second) {
      throw PluginFailure{
          fmt::format("{}: two caches are called `{}`", library_->title(), view.layout.name)};
    }
    require_inside(view);
    description_.caches.push_back(std::move(view));
  }
  for (const auto& buffer : host_->buffers()) {
    for (kvcache::CacheView& zone : buffer->guard_views()) {
      description_.caches.push_back(std::move(zone));
    }
  }
  for (std::int32_t i = 0; i < declared.state_count; ++i) {
    states_.push_back(opaque_view(entry(declared.states, i, "states")));
  }
  for (int step = 0; step < declared.steps; ++step) {
    auto batch = sized<graphsan_batch>();
    call(fmt::format("batch() of step {}", step), library_->table().batch, self_, step, &batch);
    batches_.push_back(step_facts(batch, step));
    require_rows(batches_.back(), description_.caches);
  }
}

void PluginStep::require_inside(const kvcache::CacheView& view) const {
  const auto* begin = static_cast<const std::byte*>(view.base);
  for (const auto& buffer : host_->buffers()) {
    const auto* first = static_cast<const std::byte*>(buffer->data());
    const auto* last = first + buffer->bytes();
    if (begin < first || begin >= last || extent(view.layout) <= last - begin) continue;
    throw PluginFailure{
        fmt::format("{}: `{}` takes {} bytes, and {} of them lie in what allocate() gave it",
                    library_->title(), view.layout.name, extent(view.layout), last - begin)};
  }
}

model::StepFacts PluginStep::plan(int step) const {
  return batches_.at(static_cast<std::size_t>(step));
}

graphsan_call PluginStep::call_of(int step, Arm arm, device::StreamRef stream) const {
  const model::StepFacts& batch = batches_.at(static_cast<std::size_t>(step));
  auto made = sized<graphsan_call>();
  made.step = step;
  made.arm = arm == Arm::kPaddedEager              ? GRAPHSAN_PADDED_EAGER
             : arm == Arm::kGraph && batch.covered ? GRAPHSAN_GRAPH
                                                   : GRAPHSAN_EAGER;
  made.tokens = batch.tokens;
  made.bucket = batch.bucket;
  made.metadata = GRAPHSAN_METADATA_LIVE;
  made.stream = stream.raw;
  return made;
}

template <typename Declared>
std::vector<Declared> PluginStep::ask(const char* what,
                                      int (*function)(void*, const graphsan_call*, const Declared**,
                                                      std::int32_t*),
                                      const graphsan_call& one) const {
  if (function == nullptr) return {};
  const Declared* declared = nullptr;
  std::int32_t count = 0;
  call(text_of(what, one), function, self_, &one, &declared, &count);
  std::vector<Declared> entries;
  for (std::int32_t i = 0; i < count; ++i) entries.push_back(entry(declared, i, what));
  return entries;
}

std::vector<OutputView> PluginStep::outputs(int step, Arm arm) const {
  const graphsan_call one = call_of(step, arm, {});
  std::vector<OutputView> views;
  for (const graphsan_output& output : ask("outputs", library_->table().outputs, one)) {
    views.push_back(output_view(output, one.tokens));
  }
  // What one arm put out is compared with the other's, one by one.
  std::vector<std::string> words;
  for (const OutputView& view : views) words.push_back(identity(view.view.layout));
  const auto [first, is_first] = outputs_.try_emplace(step, words);
  if (!is_first && first->second != words) {
    throw PluginFailure{fmt::format(
        "{}: {} declares {}, and another arm declared {}; every arm must declare the same outputs, "
        "in the same order",
        library_->title(), text_of("outputs", one), list(words), list(first->second))};
  }
  return views;
}

std::vector<InputView> PluginStep::inputs(int step, Arm arm) const {
  const graphsan_call one = call_of(step, arm, {});
  std::vector<InputView> views;
  for (const graphsan_input& input : ask("inputs", library_->table().inputs, one)) {
    views.push_back(input_view(input, lanes_of(one)));
  }
  return views;
}

void PluginStep::fill_rows(const kvcache::CacheView& view, device::StreamRef stream) {
  for (const ByteRange& range : byte_ranges(view.layout)) {
    device_->fill(stream, static_cast<std::byte*>(view.base) + range.offset, kUnwritten,
                  static_cast<std::size_t>(range.bytes));
  }
}

void PluginStep::reset(device::StreamRef stream) {
  for (const auto& buffer : host_->buffers()) buffer->reset(stream);
  for (const kvcache::CacheView& view : description_.caches) {
    if (view.layout.kind != model::CacheKind::kGuard) fill_rows(view, stream);
  }
  if (library_->table().reset != nullptr) {
    call("reset()", library_->table().reset, self_, stream.raw);
  }
  device_->synchronize(stream);
}

void PluginStep::write_history(device::StreamRef stream) {
  if (library_->table().history == nullptr) return;
  call("history()", library_->table().history, self_, stream.raw);
}

void PluginStep::prepare(int step, Arm arm, device::StreamRef stream) {
  const graphsan_call one = call_of(step, arm, stream);
  call(text_of("prepare", one), library_->table().prepare, self_, &one);
  device_->synchronize(stream);
}

void PluginStep::run(int step, Arm arm, device::StreamRef stream) {
  const graphsan_call one = call_of(step, arm, stream);
  call(text_of("run", one), library_->table().run, self_, &one);
}

graphsan_call PluginStep::capture_call(const CaptureRequest& request, int bucket,
                                       device::StreamRef stream) const {
  if (request.metadata.value_or(options_.metadata) == CaptureMetadata::kLive) {
    const auto serves = [&](int step) {
      const model::StepFacts& batch = batches_.at(static_cast<std::size_t>(step));
      return batch.covered && batch.bucket == bucket;
    };
    if (request.live_step >= 0 && serves(request.live_step)) {
      return call_of(request.live_step, Arm::kGraph, stream);
    }
    for (int step = 0; step < description_.steps; ++step) {
      if (serves(step)) return call_of(step, Arm::kGraph, stream);
    }
  }
  auto made = sized<graphsan_call>();
  made.step = -1;
  made.arm = GRAPHSAN_GRAPH;
  made.tokens = bucket;
  made.bucket = bucket;
  made.metadata = request.metadata.value_or(options_.metadata) == CaptureMetadata::kNone
                      ? GRAPHSAN_METADATA_NONE
                      : GRAPHSAN_METADATA_DUMMY;
  made.stream = stream.raw;
  return made;
}

bool PluginStep::adopt_own(CapturedPlugin& captured, const graphsan_call& one) {
  const graphsan_plugin_table& table = library_->table();
  const graphsan_segment* made = nullptr;
  std::int32_t count = 0;
  std::unique_ptr<CapturedPlugin::Release> release;
  const auto capture = [&] {
    void* handle = nullptr;
    const int status = table.capture(self_, &one, &made, &count, &handle);
    if (status == 0 && (handle != nullptr || count > 0)) {
      release = std::make_unique<CapturedPlugin::Release>(
          [library = library_, self = self_, handle] { library->table().release(self, handle); });
    }
    return status;
  };
  call(text_of("capture", one), capture);
  if (count < 0) {
    throw PluginFailure{fmt::format("{}: capture() made {} segments", library_->title(), count)};
  }
  if (count == 0) return false;
  const auto labels = std::make_shared<NodeLabels>();
  std::vector<Segment>& segments = captured.adopt(one.bucket, std::move(release));
  for (std::int32_t i = 0; i < count; ++i) {
    const graphsan_segment piece = entry(made, i, "segments");
    if ((piece.graph == nullptr) != (piece.exec == nullptr)) {
      throw PluginFailure{
          fmt::format("{}: segment {} of a capture has a graph or an exec without the other",
                      library_->title(), i)};
    }
    Segment segment{
        device::GraphRef{piece.graph}, device::GraphExecRef{piece.exec}, {}, {}, labels};
    if (segment.graph) {
      host_->capture_labels().finish(segment.graph, device_->node_refs(segment.graph));
    }
    if (piece.eager != nullptr) {
      segment.break_after = piece.eager_name == nullptr ? "eager op" : piece.eager_name;
      segment.run_break = [this, piece, name = segment.break_after](device::StreamRef on) {
        call(fmt::format("the op {} after a segment", name), piece.eager, piece.argument, on.raw);
      };
    }
    segments.push_back(std::move(segment));
  }
  *labels = host_->capture_labels().labels();
  return true;
}

void PluginStep::capture_bucket(CapturedPlugin& captured, const CaptureRequest& request, int bucket,
                                device::StreamRef stream) {
  const graphsan_plugin_table& table = library_->table();
  graphsan_call one = capture_call(request, bucket, stream);
  call(text_of("prepare", one), table.prepare, self_, &one);
  device_->synchronize(stream);
  if (request.warm_up) {
    call(text_of("run", one), table.run, self_, &one);
    device_->synchronize(stream);
  }
  host_->capture_labels().clear();
  if (table.capture != nullptr && host_->table()->is_cuda != 0) {
    if (adopt_own(captured, one)) return;
    host_->capture_labels().clear();
  }
  one.capturing = 1;
  SegmentedCapture capture{*device_, stream, request.mode};
  capture.begin();
  host_->set_capture(&capture);
  try {
    call(text_of("run", one), table.run, self_, &one);
  } catch (...) {
    host_->set_capture(nullptr);
    throw;
  }
  host_->set_capture(nullptr);
  captured.add(bucket, capture.end(),
               std::make_shared<const NodeLabels>(host_->capture_labels().labels()));
}

std::unique_ptr<CapturedStep> PluginStep::capture(const CaptureRequest& request,
                                                  device::StreamRef stream) {
  auto captured = std::make_unique<CapturedPlugin>(batches_);
  std::set<int, std::greater<>> buckets;
  for (const model::StepFacts& batch : batches_) {
    if (batch.covered) buckets.insert(batch.bucket);
  }
  for (const int bucket : buckets) capture_bucket(*captured, request, bucket, stream);
  device_->synchronize(stream);
  return captured;
}

device::AddressMap PluginStep::addresses() const {
  device::AddressMap map;
  const auto add = [&](const std::string& name, const void* data, std::int64_t bytes) {
    const auto begin = reinterpret_cast<std::uint64_t>(data);
    map.add({begin, begin + static_cast<std::uint64_t>(bytes), device::Owner::kNamedBuffer, name});
  };
  for (const auto& buffer : host_->buffers()) {
    add(buffer->name(), buffer->data(), static_cast<std::int64_t>(buffer->bytes()));
  }
  for (const kvcache::CacheView& view : description_.caches) {
    if (view.layout.kind == model::CacheKind::kGuard) continue;
    add(view.layout.name, view.base, extent(view.layout));
  }
  for (const OpaqueView& state : states_) add(state.name, state.address, state.bytes);
  for (const Arm arm : {Arm::kEager, Arm::kGraph}) {
    for (int step = 0; step < description_.steps; ++step) {
      for (const InputView& input : inputs(step, arm)) {
        add(input.name, input.address, input.lane_stride * input.lanes);
      }
    }
  }
  return map;
}

}  // namespace graphsan::step::plugin
