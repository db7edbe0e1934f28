#include <array>
#include <string>

#include "tests/unseen/first.hpp"
#include "tests/unseen/unseen_program.hpp"

namespace graphsan::test {

using step::minimax_m3::OpContext;
using step::minimax_m3::ProgramContext;
using step::minimax_m3::RefillContext;

namespace {

/// Indexer and attention read a page table that the program makes for each step: the pages in use
/// so far, a row a lane.
class PageTableProgram : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void indexer(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    const auto& buffers = buffers_of(context);
    auto score = score_args(context.lanes, shared.config, shared.plan, *context.pool, context.layer,
                            context.tokens, buffers.scores);
    score.context.block_table = live_table();
    launch_indexer_score(shared.device, context.stream, score);
    launch_indexer_top_k(shared.device, context.stream,
                         top_k_args(context.lanes, shared.config, shared.plan, context.tokens,
                                    buffers.scores, buffers.top_k));
  }
  void attention(const OpContext& context) override {
    if (context.metadata == nullptr || context.pool == nullptr) return;
    const ProgramContext& shared = context.shared;
    auto args = attention_args(context.lanes, shared.config, shared.plan, *context.pool,
                               context.layer, context.tokens, buffers_of(context).out);
    args.context.block_table = live_table();
    launch_attention(shared.device, context.stream, args);
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    const std::int64_t bytes = stride_ * static_cast<std::int64_t>(sizeof(std::int32_t));
    return {{"page table", live_table(), bytes, bytes, lanes_, model::DType::kI32, false, 0}};
  }

 protected:
  [[nodiscard]] virtual std::int32_t* live_table() const = 0;

  [[nodiscard]] std::int32_t* add_table(const ProgramContext& shared, const std::string& name) {
    stride_ = shared.plan.table_stride();
    rows_ = static_cast<std::size_t>(shared.plan.sequences());
    lanes_ = shared.persistent.capacity;
    return memory_->add<std::int32_t>(name, rows_ * static_cast<std::size_t>(stride_));
  }
  void clear_table(const ProgramContext& shared, device::StreamRef stream, std::int32_t* table) {
    shared.device.fill(stream, table, 0,
                       rows_ * static_cast<std::size_t>(stride_) * sizeof(std::int32_t));
  }
  void upload(const RefillContext& context, std::int32_t* table) {
    const auto& plan = context.shared.plan;
    std::vector<std::int32_t> host(rows_ * static_cast<std::size_t>(stride_), 0);
    for (const model::Lane& lane : context.metadata.lanes) {
      if (!lane.real) continue;
      const std::int64_t row = lane.sequence * stride_;
      const std::int64_t pages = lane.position / context.shared.config.page_size + 1;
      for (std::int64_t page = 0; page < pages; ++page) {
        const auto entry = static_cast<std::size_t>(row + page);
        host[entry] = plan.block_table()[entry];
      }
    }
    context.shared.device.copy(context.stream, table, host.data(),
                               host.size() * sizeof(std::int32_t));
    context.shared.device.synchronize(context.stream);
  }
  void set_lanes(const RefillContext& context) { lanes_ = context.metadata.length; }

 private:
  std::int64_t stride_ = 0;
  std::size_t rows_ = 0;
  std::int64_t lanes_ = 0;
};

// moved-buffer ------------------------------------------------------------------------------------

/// The scheduler makes a new page table each step, in the next of three tensors.
class NewPageTable final : public PageTableProgram {
 public:
  using PageTableProgram::PageTableProgram;

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    live_ = 0;
    for (std::int32_t* table : tables_) clear_table(shared, stream, table);
  }
  void refill(const RefillContext& context) override {
    live_ = (live_ + 1) % tables_.size();
    set_lanes(context);
    upload(context, tables_[live_]);
  }

 private:
  [[nodiscard]] std::int32_t* live_table() const override { return tables_[live_]; }
  void make_memory(const ProgramContext& shared) override {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      tables_[i] = add_table(shared, "page table " + std::to_string(i));
    }
  }
  std::array<std::int32_t*, 3> tables_{};
  std::size_t live_ = 0;
};

/// The embedding comes in one of two tensors in turn.
class EmbeddingInTurn final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    live_ = 0;
    for (std::uint16_t* tensor : tensors_) {
      shared.device.fill(stream, tensor, 0, capacity(shared) * row_bytes_);
    }
  }
  void refill(const RefillContext& context) override {
    live_ = 1 - live_;
    lanes_ = context.metadata.length;
    context.shared.device.copy(context.stream, tensors_[live_], context.lanes.layers[0].base,
                               static_cast<std::size_t>(lanes_) * row_bytes_);
  }
  void norm_rope(const OpContext& context) override {
    auto mix = mix_args(context);
    if (context.layer == 0) mix.base = tensors_[live_];
    launch_mix(context.shared.device, context.stream, mix);
    launch_norm_rope(context.shared.device, context.stream, norm_rope_args(context, false));
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    const auto bytes = static_cast<std::int64_t>(row_bytes_);
    return {{"embedding", tensors_[live_], bytes, bytes, lanes_, model::DType::kBf16, true}};
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    const auto& config = shared.config;
    const auto heads =
        step::minimax_m3::heads_for(config.tp, step::minimax_m3::is_sparse_layer(0, config.layers));
    const auto width = static_cast<std::size_t>(step::minimax_m3::row_width(heads));
    row_bytes_ = width * sizeof(std::uint16_t);
    lanes_ = shared.persistent.capacity;
    tensors_[0] = memory_->add<std::uint16_t>("embedding, even", capacity(shared) * width);
    tensors_[1] = memory_->add<std::uint16_t>("embedding, odd", capacity(shared) * width);
  }
  std::array<std::uint16_t*, 2> tensors_{};
  std::size_t live_ = 0;
  std::size_t row_bytes_ = 0;
  std::int64_t lanes_ = 0;
};

// stale-contents ----------------------------------------------------------------------------------

/// The page table stays where it is; a replay after the first gets no pages that its sequences took
/// since.
class PagesNotAppended final : public PageTableProgram {
 public:
  using PageTableProgram::PageTableProgram;

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    clear_table(shared, stream, table_);
  }
  void refill(const RefillContext& context) override {
    set_lanes(context);
    if (faults::replays(context) && context.step > 0) return;
    upload(context, table_);
  }

 private:
  [[nodiscard]] std::int32_t* live_table() const override { return table_; }
  void make_memory(const ProgramContext& shared) override {
    table_ = add_table(shared, "page table");
  }
  std::int32_t* table_ = nullptr;
};

/// out[i] = prompt[i] + generated[i].
struct AddGenerated {
  static constexpr const char* kName = "add_generated";
  std::int64_t* out;
  const std::int64_t* prompt;
  const std::int64_t* generated;
  std::int64_t count;
  void operator()(std::int64_t i) const { out[i] = prompt[i] + generated[i]; }
  static std::span<const device::ArgumentFieldInfo> fields() {
    static constexpr device::ArgumentFieldInfo kFields[] = {
        GRAPHSAN_ARGUMENT_FIELD(AddGenerated, out), GRAPHSAN_ARGUMENT_FIELD(AddGenerated, prompt),
        GRAPHSAN_ARGUMENT_FIELD(AddGenerated, generated),
        GRAPHSAN_ARGUMENT_FIELD(AddGenerated, count)};
    return kFields;
  }
};

/// Positions for the rotary embedding are a prompt's length and a count of generated tokens; the
/// scheduler counts on only where it launches the step itself.
class GeneratedNotCounted final : public UnseenProgram {
 public:
  using UnseenProgram::UnseenProgram;

  void reset(const ProgramContext& shared, device::StreamRef stream) override {
    for (std::int64_t* buffer : {prompt_, generated_}) {
      shared.device.fill(stream, buffer, 0, capacity(shared) * sizeof(std::int64_t));
    }
  }
  void refill(const RefillContext& context) override {
    lanes_ = context.metadata.length;
    const std::int64_t start = context.shared.plan.history();
    std::vector<std::int64_t> prompt(static_cast<std::size_t>(lanes_), 0);
    std::vector<std::int64_t> generated(static_cast<std::size_t>(lanes_), 0);
    for (std::size_t lane = 0; lane < context.metadata.lanes.size(); ++lane) {
      if (!context.metadata.lanes[lane].real) continue;
      prompt[lane] = start;
      generated[lane] = context.metadata.lanes[lane].position - start;
    }
    device::Device& device = context.shared.device;
    const std::size_t bytes = prompt.size() * sizeof(std::int64_t);
    device.copy(context.stream, prompt_, prompt.data(), bytes);
    if (!faults::replays(context)) {
      device.copy(context.stream, generated_, generated.data(), bytes);
    }
    device.synchronize(context.stream);
  }
  void norm_rope(const OpContext& context) override {
    launch(context.shared.device, context.stream,
           AddGenerated{positions_, prompt_, generated_, context.tokens});
    launch_mix(context.shared.device, context.stream, mix_args(context));
    auto args = norm_rope_args(context, false);
    args.positions = positions_;
    launch_norm_rope(context.shared.device, context.stream, args);
  }
  [[nodiscard]] std::vector<step::InputView> inputs(int, step::Arm) const override {
    return {{"prompt lengths", prompt_, 8, 8, lanes_, model::DType::kI64, false, 0},
            {"generated tokens", generated_, 8, 8, lanes_, model::DType::kI64, false, 0}};
  }

 private:
  void make_memory(const ProgramContext& shared) override {
    lanes_ = shared.persistent.capacity;
    prompt_ = memory_->add<std::int64_t>("prompt lengths", capacity(shared));
    generated_ = memory_->add<std::int64_t>("generated tokens", capacity(shared));
    positions_ = memory_->add<std::int64_t>("rotary positions", capacity(shared));
  }
  std::int64_t* prompt_ = nullptr;
  std::int64_t* generated_ = nullptr;
  std::int64_t* positions_ = nullptr;
  std::int64_t lanes_ = 0;
};

}  // namespace

void add_first_contents(std::vector<UnseenFault>& faults) {
  faults.push_back({"moved-buffer", "new-page-table", "--mode full --kv-dtype fp8_e4m3",
                    unseen_program<NewPageTable>()});
  faults.push_back({"moved-buffer", "embedding-in-turn", "--kv-dtype fp8_e5m2",
                    unseen_program<EmbeddingInTurn>()});
  faults.push_back({"stale-contents", "pages-not-appended", "--mode full --page-size 64 --steps 5",
                    unseen_program<PagesNotAppended>()});
  faults.push_back({"stale-contents", "generated-not-counted", "--kv-dtype fp8_e4m3 --layers 3",
                    unseen_program<GeneratedNotCounted>()});
}

}  // namespace graphsan::test
