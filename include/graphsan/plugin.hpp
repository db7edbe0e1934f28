// Joins a C++ step to the C ABI of graphsan/plugin.h: GRAPHSAN_PLUGIN makes a plug-in of one.
// C++17, header only; the plug-in needs no library of GraphSan's.
#ifndef GRAPHSAN_PLUGIN_HPP
#define GRAPHSAN_PLUGIN_HPP

#include <graphsan/plugin.h>
#include <graphsan/step.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace graphsan {

/// Joins a Step to the table of the C ABI: the object behind `self`. Not for use by steps.
class StepBinding {
 public:
  using Maker = std::function<Step*(Host& host, std::unique_ptr<Step>& owned)>;

  /// A table whose create() asks `kMaker()` for the step.
  template <Maker (*kMaker)()>
  static const graphsan_plugin_table& table() {
    static const graphsan_plugin_table made = make_table(&StepBinding::create<kMaker>);
    return made;
  }

  StepBinding(const StepBinding&) = delete;
  StepBinding& operator=(const StepBinding&) = delete;
  ~StepBinding() {
    if (owned_ == nullptr && step_ != nullptr) step_->host_ = nullptr;
    owned_.reset();  // while it has its host
  }

 private:
  StepBinding(const graphsan_host* host, const char* options) : host_{host, options} {}

  /// One capture of the step's own, with what the ABI is told of it.
  struct Captured {
    OwnCapture own;
    std::vector<graphsan_segment> segments;
    struct Op {
      const Host* host = nullptr;
      const Segment* segment = nullptr;
    };
    std::vector<Op> ops;
  };

  template <Maker (*kMaker)()>
  static int create(const graphsan_host* host, const char* options, void** self) {
    return Host{host}.guarded([&] {
      std::unique_ptr<StepBinding> made{new StepBinding{host, options}};
      made->step_ = kMaker()(made->host_, made->owned_);
      if (made->step_ == nullptr) throw std::runtime_error{"the factory made no step"};
      made->step_->host_ = &made->host_;
      made->step_->set_up(made->host_);
      *self = made.release();
    });
  }

  static StepBinding& of(void* self) { return *static_cast<StepBinding*>(self); }

  static Call call_of(const graphsan_call& call) {
    return {call.step,   static_cast<Arm>(call.arm),           call.tokens,
            call.bucket, static_cast<Metadata>(call.metadata), call.capturing != 0,
            call.stream};
  }

  static graphsan_plugin_table make_table(int (*create)(const graphsan_host*, const char*,
                                                        void**)) {
    graphsan_plugin_table table{};
    table.abi_version = GRAPHSAN_PLUGIN_ABI;
    table.struct_size = sizeof(table);
    table.create = create;
    table.destroy = [](void* self) { delete static_cast<StepBinding*>(self); };
    table.describe = [](void* self, graphsan_description* out) {
      return of(self).host_.guarded([&] { of(self).describe(*out); });
    };
    table.batch = [](void* self, std::int32_t step, graphsan_batch* out) {
      return of(self).host_.guarded([&] { of(self).batch(step, *out); });
    };
    table.prepare = [](void* self, const graphsan_call* call) {
      return of(self).host_.guarded([&] { of(self).step_->prepare(call_of(*call)); });
    };
    table.run = [](void* self, const graphsan_call* call) {
      return of(self).host_.guarded([&] { of(self).step_->run(call_of(*call)); });
    };
    table.reset = [](void* self, void* stream) {
      return of(self).host_.guarded([&] { of(self).step_->reset(stream); });
    };
    table.history = [](void* self, void* stream) {
      return of(self).host_.guarded([&] { of(self).step_->history(stream); });
    };
    table.inputs = [](void* self, const graphsan_call* call, const graphsan_input** out,
                      std::int32_t* count) {
      return of(self).host_.guarded([&] { of(self).inputs(*call, out, count); });
    };
    table.outputs = [](void* self, const graphsan_call* call, const graphsan_output** out,
                       std::int32_t* count) {
      return of(self).host_.guarded([&] { of(self).outputs(*call, out, count); });
    };
    table.capture = [](void* self, const graphsan_call* call, const graphsan_segment** out,
                       std::int32_t* count, void** captured) {
      return of(self).host_.guarded([&] { of(self).capture(*call, out, count, captured); });
    };
    table.release = [](void*, void* captured) { delete static_cast<Captured*>(captured); };
    return table;
  }

  void describe(graphsan_description& out) {
    description_ = step_->describe();
    caches_.clear();
    for (const Cache& cache : description_.caches) {
      graphsan_cache one{};
      one.struct_size = sizeof(one);
      one.name = cache.name.c_str();
      one.kind = static_cast<std::int32_t>(cache.kind);
      one.layer = cache.layer;
      one.dtype = static_cast<std::int32_t>(cache.dtype);
      one.sink_count = static_cast<std::int32_t>(cache.sinks.size());
      one.pages = cache.pages;
      one.page_size = cache.page_size;
      one.heads = cache.heads;
      one.dim = cache.dim;
      one.page_stride = cache.page_stride;
      one.slot_stride = cache.slot_stride;
      one.head_stride = cache.head_stride;
      one.data = cache.data;
      one.sinks = cache.sinks.data();
      caches_.push_back(one);
    }
    states_.clear();
    for (const State& state : description_.states) {
      states_.push_back({sizeof(graphsan_state), state.name.c_str(), state.data, state.bytes});
    }
    out.name = description_.name.empty() ? nullptr : description_.name.c_str();
    out.steps = description_.steps;
    out.cache_count = static_cast<std::int32_t>(caches_.size());
    out.caches = caches_.data();
    out.state_count = static_cast<std::int32_t>(states_.size());
    out.states = states_.data();
    out.top_k = description_.top_k;
    out.block_size = description_.block_size;
  }

  /// Null for an empty vector; throws where it has not one entry a lane.
  template <typename Entry>
  const Entry* per_lane(const std::vector<Entry>& entries, const char* name) const {
    if (entries.empty()) return nullptr;
    if (entries.size() == batch_.slots.size()) return entries.data();
    throw std::invalid_argument{std::to_string(entries.size()) + " " + name + " for " +
                                std::to_string(batch_.slots.size()) +
                                " slots: give one a slot, or none"};
  }

  void batch(int step, graphsan_batch& out) {
    batch_ = step_->batch(step);
    out.tokens = static_cast<std::int32_t>(batch_.slots.size());
    out.bucket = batch_.bucket == 0 ? out.tokens : batch_.bucket;
    out.slots = batch_.slots.data();
    out.index_slots = per_lane(batch_.index_slots, "index slots");
    out.sequences = per_lane(batch_.sequences, "sequences");
    out.positions = per_lane(batch_.positions, "positions");
    out.kind = batch_.kind.c_str();
    out.eager_reason = batch_.eager_reason.empty() ? nullptr : batch_.eager_reason.c_str();
  }

  void inputs(const graphsan_call& call, const graphsan_input** out, std::int32_t* count) {
    inputs_ = step_->inputs(call_of(call));
    abi_inputs_.clear();
    for (const Input& input : inputs_) {
      abi_inputs_.push_back({sizeof(graphsan_input), input.name.c_str(), input.data,
                             input.lane_bytes, input.lane_stride,
                             static_cast<std::int32_t>(input.dtype), input.is_activation ? 1 : 0,
                             input.pad_value});
    }
    *out = abi_inputs_.data();
    *count = static_cast<std::int32_t>(abi_inputs_.size());
  }

  void outputs(const graphsan_call& call, const graphsan_output** out, std::int32_t* count) {
    outputs_ = step_->outputs(call_of(call));
    abi_outputs_.clear();
    for (const Output& output : outputs_) {
      abi_outputs_.push_back({sizeof(graphsan_output), output.name.c_str(),
                              static_cast<std::int32_t>(output.kind), output.layer,
                              static_cast<std::int32_t>(output.dtype), 0, output.heads, output.dim,
                              output.lane_stride, output.head_stride, output.data});
    }
    *out = abi_outputs_.data();
    *count = static_cast<std::int32_t>(abi_outputs_.size());
  }

  static int run_op(void* argument, void* stream) {
    const Captured::Op& op = *static_cast<const Captured::Op*>(argument);
    return op.host->guarded([&] { op.segment->eager(stream); });
  }

  void capture(const graphsan_call& call, const graphsan_segment** out, std::int32_t* count,
               void** captured) {
    std::optional<OwnCapture> own = step_->capture(call_of(call));
    if (!own) return;  // a count of 0: GraphSan captures run()
    if (own->segments.empty()) throw std::runtime_error{"the step's own capture has no segment"};
    auto made = std::make_unique<Captured>();
    made->own = std::move(*own);
    for (const Segment& segment : made->own.segments) made->ops.push_back({&host_, &segment});
    for (Captured::Op& op : made->ops) {
      const Segment& segment = *op.segment;
      const bool eager = static_cast<bool>(segment.eager);
      made->segments.push_back({sizeof(graphsan_segment), segment.graph, segment.exec,
                                eager ? segment.eager_name.c_str() : nullptr,
                                eager ? &StepBinding::run_op : nullptr, &op});
    }
    *out = made->segments.data();
    *count = static_cast<std::int32_t>(made->segments.size());
    *captured = made.release();
  }

  Host host_;
  std::unique_ptr<Step> owned_;
  Step* step_ = nullptr;
  Description description_;
  std::vector<graphsan_cache> caches_;
  std::vector<graphsan_state> states_;
  Batch batch_;
  std::vector<Input> inputs_;
  std::vector<graphsan_input> abi_inputs_;
  std::vector<Output> outputs_;
  std::vector<graphsan_output> abi_outputs_;
};

namespace detail {

/// Makes a `MyStep` with the constructor that takes the host, or with the one that takes nothing.
template <typename MyStep>
StepBinding::Maker maker_of() {
  return [](Host& host, std::unique_ptr<Step>& owned) {
    if constexpr (std::is_constructible_v<MyStep, Host&>) {
      owned = std::make_unique<MyStep>(host);
    } else {
      owned = std::make_unique<MyStep>();
    }
    return owned.get();
  };
}

}  // namespace detail

}  // namespace graphsan

/// Makes a shared library of this source file a plug-in for `graphsan check --step`, with a step of
/// class `MyStep`. At namespace scope, once.
#define GRAPHSAN_PLUGIN(MyStep)                                                                   \
  extern "C" __attribute__((visibility("default"))) const graphsan_plugin_table* graphsan_plugin( \
      void) {                                                                                     \
    return &::graphsan::StepBinding::table<&::graphsan::detail::maker_of<MyStep>>();              \
  }

#endif  // GRAPHSAN_PLUGIN_HPP
