#include <deque>

#include "tests/unseen/first.hpp"
#include "tests/unseen/residual_ops.hpp"
#include "tests/unseen/unseen_program.hpp"

namespace graphsan::test {

using device::Temporary;
using step::minimax_m3::bf16_to_float;
using step::minimax_m3::Config;
using step::minimax_m3::float_to_bf16;
using step::minimax_m3::InsertContext;
using step::minimax_m3::kHeadDim;
using step::minimax_m3::NegativeSlot;
using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;

namespace {

/// Tensors of one size that a server's requests hold during a step, from the general pool.
class RequestTensors {
 public:
  /// Gives the last step's back and takes as many anew.
  const std::deque<Temporary>& take(const RefillContext& context, std::size_t bytes) {
    constexpr int kTensors = 24;
    held_.clear();
    for (int i = 0; i < kTensors; ++i) held_.emplace_back(context.shared.allocator, bytes);
    return held_;
  }
  void release() { held_.clear(); }

 private:
  std::deque<Temporary> held_;
};

// freed-memory ------------------------------------------------------------------------------------

/// out[i] = first + i × stride.
struct CountUp {
  static constexpr const char* kName = "count_up";
  std::int64_t* out;
  std::int64_t first;
  std::int64_t stride;
  std::int64_t count;
  void operator()(std::int64_t i) const { out[i] = first + i * stride; }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(CountUp, out), GRAPHSAN_ARGUMENT_FIELD(CountUp, first),
        GRAPHSAN_ARGUMENT_FIELD(CountUp, stride), GRAPHSAN_ARGUMENT_FIELD(CountUp, count)};
    return kFields;
  }
};

/// ordered[i] = slots[order[i]]; -1 where the order names no lane.
struct OrderSlots {
  static constexpr const char* kName = "order_slots";
  std::int64_t* ordered;
  const std::int64_t* slots;
  const std::int64_t* order;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    ordered[i] = order[i] >= 0 && order[i] < count ? slots[order[i]] : -1;
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(OrderSlots, ordered), GRAPHSAN_ARGUMENT_FIELD(OrderSlots, slots),
        GRAPHSAN_ARGUMENT_FIELD(OrderSlots, order), GRAPHSAN_ARGUMENT_FIELD(OrderSlots, count)};
    return kFields;
  }
};

/// Index-K slots go through an order of lanes. For a capture the order is made once beforehand and
/// dropped afterwards; requests then keep their token ids there.
class OrderDropped final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void reset(const ProgramContext&, device::StreamRef) override { requests_.release(); }
  void before_capture(const ProgramContext& shared, device::StreamRef stream, int) override {
    kept_.emplace(shared.allocator, bytes(shared));
    launch(shared.device, stream,
           CountUp{kept_->as<std::int64_t>(), 0, 1, static_cast<std::int64_t>(capacity(shared))});
    shared.device.synchronize(stream);
  }
  void after_capture(const ProgramContext&, device::StreamRef, int) override { kept_.reset(); }
  void refill(const RefillContext& context) override {
    const auto lanes = static_cast<std::int64_t>(capacity(context.shared));
    for (const Temporary& ids : requests_.take(context, bytes(context.shared))) {
      launch(context.shared.device, context.stream,
             CountUp{ids.as<std::int64_t>(), 151000 + 64 * context.step, 17, lanes});
    }
  }
  void insert(const OpContext& context) override {
    const InsertContext write = insert_context(context);
    if (!is_last(context) || write.cache.key == nullptr) return StepProgram::insert(context);
    write_main(write, write.slots, write.tokens);
    if (kept_) return write_ordered(context, kept_->as<std::int64_t>());
    const Temporary order{context.shared.allocator, bytes(context.shared)};
    launch(context.shared.device, context.stream,
           CountUp{order.as<std::int64_t>(), 0, 1, context.tokens});
    write_ordered(context, order.as<std::int64_t>());
  }

 private:
  [[nodiscard]] static std::size_t bytes(const ProgramContext& shared) {
    return capacity(shared) * sizeof(std::int64_t);
  }
  void write_ordered(const OpContext& context, const std::int64_t* order) {
    const InsertContext write = insert_context(context);
    launch(context.shared.device, context.stream,
           OrderSlots{ordered_, write.slots, order, context.tokens});
    write_index(write, ordered_, write.tokens, NegativeSlot::kSkip);
  }
  void make_memory(const ProgramContext& shared) override {
    ordered_ = memory_->add<std::int64_t>("ordered slots", capacity(shared));
  }
  RequestTensors requests_;
  std::optional<Temporary> kept_;
  std::int64_t* ordered_ = nullptr;
};

/// The norm weight of K is converted into a tensor of its own: for each launch, but for a capture
/// once, and that one is dropped. Nobody needs the memory before the third step.
class ConvertedWeightDropped final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void reset(const ProgramContext&, device::StreamRef) override { requests_.release(); }
  void before_capture(const ProgramContext& shared, device::StreamRef, int) override {
    kept_.emplace(shared.allocator, kBytes);
  }
  void after_capture(const ProgramContext&, device::StreamRef, int) override { kept_.reset(); }
  void refill(const RefillContext& context) override {
    if (context.step < 2) return;
    for (const Temporary& values : requests_.take(context, kBytes)) {
      step::minimax_m3::launch_fill_float(context.shared.device, context.stream,
                                          {values.as<float>(), kBytes / sizeof(float), 2.71828F});
    }
  }
  void norm_rope(const OpContext& context) override {
    if (!is_last(context)) return StepProgram::norm_rope(context);
    // A capture finds the tensor that the warm-up converted.
    if (kept_) return with_weight(context, *kept_, !faults::is_captured(context));
    with_weight(context, Temporary{context.shared.allocator, kBytes}, true);
  }

 private:
  static constexpr int kBytes = 3 * 1024;  ///< rounded up, as frameworks do

  void with_weight(const OpContext& context, const Temporary& weight, bool convert) {
    device::Device& device = context.shared.device;
    auto args = norm_rope_args(context, false);
    if (convert) {
      device.copy(context.stream, weight.data(), args.w_k, kHeadDim * sizeof(std::uint16_t));
    }
    args.w_k = weight.as<std::uint16_t>();
    launch_mix(device, context.stream, mix_args(context));
    launch_norm_rope(device, context.stream, args);
  }
  RequestTensors requests_;
  std::optional<Temporary> kept_;
};

// replaced-workspace ------------------------------------------------------------------------------

/// Adapter r's factor for element j, an invented weight.
struct LoadAdapters {
  static constexpr const char* kName = "load_adapters";
  float* adapters;
  std::int64_t width;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    const std::int64_t pattern = (i / width * 37 + i % width * 11) % 64;
    adapters[i] = 1.0F + static_cast<float>(pattern) / 128.0F;
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(LoadAdapters, adapters),
        GRAPHSAN_ARGUMENT_FIELD(LoadAdapters, width), GRAPHSAN_ARGUMENT_FIELD(LoadAdapters, count)};
    return kFields;
  }
};

/// Multiplies each lane's values by its adapter, element by element.
struct ApplyAdapter {
  static constexpr const char* kName = "apply_adapter";
  std::uint16_t* values;
  std::int64_t stride;
  std::int64_t width;
  const float* adapters;  ///< [loaded, width]
  const std::int32_t* ids;
  std::int64_t loaded;
  std::int64_t count;
  void operator()(std::int64_t i) const {
    const std::int32_t id = ids[i / width];
    if (id < 0 || id >= loaded) return;
    std::uint16_t& value = values[i / width * stride + i % width];
    value = float_to_bf16(bf16_to_float(value) * adapters[id * width + i % width]);
  }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(ApplyAdapter, values),
        GRAPHSAN_ARGUMENT_FIELD(ApplyAdapter, stride),
        GRAPHSAN_ARGUMENT_FIELD(ApplyAdapter, width),
        GRAPHSAN_ARGUMENT_FIELD(ApplyAdapter, adapters),
        GRAPHSAN_ARGUMENT_FIELD(ApplyAdapter, ids),
        GRAPHSAN_ARGUMENT_FIELD(ApplyAdapter, loaded),
        GRAPHSAN_ARGUMENT_FIELD(ApplyAdapter, count)};
    return kFields;
  }
};

/// V passes through a lane's adapter. The pool of adapters grows when a request of the third step
/// brings new ones: all are loaded into a larger block, and the old one goes to somebody else.
class AdapterPoolGrows final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;
  [[nodiscard]] bool follows_reference() const override { return false; }

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    requests_.release();
    shared.device.fill(stream, ids_, 0, capacity(shared) * sizeof(std::int32_t));
    load(shared, stream, kAtStart);
  }
  void refill(const RefillContext& context) override {
    lanes_ = context.metadata.length;
    std::vector<std::int32_t> ids(static_cast<std::size_t>(lanes_), 0);
    for (int lane = 0; lane < context.metadata.tokens; ++lane) {
      ids[static_cast<std::size_t>(lane)] = lane % static_cast<int>(kAtStart);
    }
    context.shared.device.copy(context.stream, ids_, ids.data(), ids.size() * sizeof(std::int32_t));
    context.shared.device.synchronize(context.stream);
    if (context.step < 2 || loaded_ == kLater) return;
    load(context.shared, context.stream, kLater);
    for (const Temporary& values : requests_.take(context, bytes_of(kAtStart))) {
      step::minimax_m3::launch_fill_float(
          context.shared.device, context.stream,
          {values.as<float>(), static_cast<std::int32_t>(kAtStart * width_), 0.25F});
    }
  }
  void insert(const OpContext& context) override {
    if (is_last(context)) {
      const auto value = faults::value_slice(context);
      launch(context.shared.device, context.stream,
             ApplyAdapter{.values = value.values,
                          .stride = value.stride,
                          .width = value.width,
                          .adapters = pool_->as<float>(),
                          .ids = ids_,
                          .loaded = loaded_,
                          .count = context.tokens * value.width});
    }
    StepProgram::insert(context);
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    return {{"adapter ids", ids_, 4, 4, lanes_, model::DType::kI32, false, 0}};
  }
  void describe(device::AddressMap& map) const override {
    UnseenProgram::describe(map);
    const auto begin = reinterpret_cast<std::uint64_t>(pool_->data());
    map.add({.begin = begin,
             .end = begin + bytes_of(loaded_),
             .owner = device::Owner::kNamedBuffer,
             .name = "adapter pool"});
  }
  [[nodiscard]] std::vector<step::OpaqueView> opaque() const override {
    return {{"adapter pool", pool_->data(), static_cast<std::int64_t>(bytes_of(loaded_))}};
  }

 private:
  static constexpr std::int64_t kAtStart = 4;
  static constexpr std::int64_t kLater = 16;

  [[nodiscard]] std::size_t bytes_of(std::int64_t adapters) const {
    return static_cast<std::size_t>(adapters * width_) * sizeof(float);
  }
  void load(const ProgramContext& shared, device::StreamRef stream, std::int64_t adapters) {
    pool_.reset();
    pool_.emplace(shared.allocator, bytes_of(adapters));
    loaded_ = adapters;
    launch(shared.device, stream, LoadAdapters{pool_->as<float>(), width_, adapters * width_});
  }
  void make_memory(const ProgramContext& shared) override {
    width_ = static_cast<std::int64_t>(value_width(shared.config));
    lanes_ = shared.persistent.capacity;
    ids_ = memory_->add<std::int32_t>("adapter ids", capacity(shared));
    pool_.emplace(shared.allocator, bytes_of(kAtStart));
    loaded_ = kAtStart;
  }
  RequestTensors requests_;
  std::optional<Temporary> pool_;
  std::int64_t loaded_ = 0;
  std::int64_t width_ = 0;
  std::int32_t* ids_ = nullptr;
  std::int64_t lanes_ = 0;
};

/// V of a layer gets the layer before's by way of a workspace, which is taken anew once a capture
/// is done; eager attention in between has a scratch tensor of the same size.
class WorkspaceTakenAnew final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;
  [[nodiscard]] bool follows_reference() const override { return false; }

  void after_capture(const ProgramContext& shared, device::StreamRef, int) override {
    Temporary old{std::move(*workspace_)};
    workspace_.emplace(shared.allocator, bytes_);
  }
  void norm_rope(const OpContext& context) override {
    StepProgram::norm_rope(context);
    const auto value = faults::value_slice(context);
    auto* kept = workspace_->as<float>();
    const std::int64_t count = context.tokens * value.width;
    device::Device& device = context.shared.device;
    if (context.layer > 0) {
      launch(device, context.stream,
             AddResidual{value.values, kept, value.stride, value.width, count});
    }
    launch(device, context.stream,
           KeepResidual{kept, value.values, value.stride, value.width, count});
  }
  void attention(const OpContext& context) override {
    const Temporary scratch{context.shared.allocator, bytes_};
    step::minimax_m3::launch_fill_float(
        context.shared.device, context.stream,
        {scratch.as<float>(), static_cast<std::int32_t>(bytes_ / 4), -1.5F});
    StepProgram::attention(context);
  }
  void describe(device::AddressMap& map) const override {
    UnseenProgram::describe(map);
    const auto begin = reinterpret_cast<std::uint64_t>(workspace_->data());
    map.add({.begin = begin,
             .end = begin + bytes_,
             .owner = device::Owner::kNamedBuffer,
             .name = "residual workspace"});
  }
  [[nodiscard]] std::vector<step::OpaqueView> opaque() const override {
    return {{"residual workspace", workspace_->data(), static_cast<std::int64_t>(bytes_)}};
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    bytes_ = capacity(shared) * value_width(shared.config) * sizeof(float);
    workspace_.emplace(shared.allocator, bytes_);
  }
  std::optional<Temporary> workspace_;
  std::size_t bytes_ = 0;
};

}  // namespace

void add_first_lifetimes(std::vector<UnseenFault>& faults) {
  faults.push_back({"freed-memory", "order-dropped", "--kv-dtype fp8_e4m3 --layers 3",
                    unseen_program<OrderDropped>()});
  faults.push_back({"freed-memory", "converted-weight-dropped", "--mode full --kv-dtype fp8_e5m2",
                    unseen_program<ConvertedWeightDropped>()});
  faults.push_back({"replaced-workspace", "adapter-pool-grows", "--mode full",
                    unseen_program<AdapterPoolGrows>()});
  faults.push_back({"replaced-workspace", "workspace-taken-anew", "--kv-dtype fp8_e4m3 --layers 3",
                    unseen_program<WorkspaceTakenAnew>()});
}

}  // namespace graphsan::test
