#include "step/minimax_m3/minimax_m3_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "kvcache/row_pack.hpp"
#include "step/minimax_m3/ops.hpp"

namespace graphsan::step::minimax_m3 {

Conversion conversion_for(ConvertChoice choice, const device::Device& device) {
  const bool native = device.properties().native_fp8;
  switch (choice) {
    case ConvertChoice::kAuto:
      return native ? Conversion::kNative : Conversion::kSoftware;
    case ConvertChoice::kNative:
      if (native || device.properties().kind == device::DeviceKind::kHost) {
        return Conversion::kNative;
      }
      throw ConfigError{
          "--convert native: this GPU has no fp8 conversion (compute capability below 8.9); use "
          "--convert software, which gives the same bytes"};
    case ConvertChoice::kSoftware:
      return Conversion::kSoftware;
  }
  return Conversion::kSoftware;
}

std::uint64_t memory_needed(const Config& config) {
  const BatchPlan plan{config};
  const std::uint64_t slots =
      static_cast<std::uint64_t>(plan.pages()) * static_cast<std::uint64_t>(config.page_size);
  const std::uint64_t caches = slots * bytes_per_token(config);
  const HeadsArg heads = heads_for(config.tp, true);
  const std::uint64_t lane =
      2 * static_cast<std::uint64_t>(2 * row_width(heads) + std::int64_t{2} * heads.q * kHeadDim) +
      static_cast<std::uint64_t>(heads.index_q) * static_cast<std::uint64_t>(plan.max_blocks()) *
          sizeof(float);
  const auto lanes =
      static_cast<std::uint64_t>(config.bucket) + static_cast<std::uint64_t>(config.tokens);
  // The live pool, the history's copy, and the runner's snapshot.
  return 3 * caches + lanes * lane * static_cast<std::uint64_t>(config.layers);
}

MinimaxM3Step::MinimaxM3Step(device::Device& device, const Config& config, ProgramFactory program)
    : device_{&device},
      config_{(validate(config), config)},
      factory_{std::move(program)},
      plan_{config_},
      data_{config_, plan_},
      allocator_{device},
      setup_stream_{device.create_stream()},
      weights_{device, setup_stream_.get(), config_, plan_},
      conversion_{conversion_for(config_.convert, device)},
      pool_{device, setup_stream_.get(), config_, plan_, conversion_, ""},
      history_{device, setup_stream_.get(), config_, plan_, conversion_, "history copy of "},
      pool_set_{std::make_unique<kvcache::CacheSet>(device, setup_stream_.get(), pool_.views())},
      history_set_{
          std::make_unique<kvcache::CacheSet>(device, setup_stream_.get(), history_.views())},
      exact_{device, config_, plan_, plan_.max_tokens(), "eager"},
      persistent_{device, config_, plan_, plan_.buckets().front(), "persistent"},
      shared_{device, allocator_, config_, plan_, pool_, exact_, persistent_},
      program_{factory_(config_)},
      forward_{shared_, weights_, *program_},
      reference_{std::make_unique<Reference>(device, config_, plan_, pool_, exact_, persistent_,
                                             conversion_)} {
  description_ = {.name = "minimax-m3",
                  .caches = pool_.views(),
                  .selects_blocks = true,
                  .top_k = config_.top_k,
                  .block_size = kBlockSize,
                  .steps = config_.steps,
                  .follows_reference = program_->follows_reference()};
  load_history(setup_stream_.get());
  split_history_pages();
  program_->bind(shared_, setup_stream_.get());
  device.synchronize(setup_stream_.get());
}

MinimaxM3Step::~MinimaxM3Step() = default;

CapturePreset MinimaxM3Step::preset(int step) const {
  return capture_preset(config_, plan_.batch_of(step), plan_.step(step).bucket);
}

model::StepFacts MinimaxM3Step::plan(int step) const {
  model::StepFacts facts = plan_.step(step);
  facts.covered = preset(step).covered;
  if (!facts.covered) {
    facts.uncovered_reason =
        facts.bucket > config_.capture_limit
            ? fmt::format("{} tokens are more than the capture limit of {}", facts.bucket,
                          config_.capture_limit)
            : fmt::format("mode {} runs {} steps eagerly", to_string(config_.mode), facts.batch);
  }
  return facts;
}

const LaneBuffers& MinimaxM3Step::lanes_for(int step, Arm arm) const {
  switch (arm) {
    case Arm::kEager:
      return exact_;
    case Arm::kPaddedEager:
      return persistent_;
    case Arm::kGraph:
      return preset(step).covered ? persistent_ : exact_;
  }
  return exact_;
}

std::vector<OutputView> MinimaxM3Step::outputs(int step, Arm arm) const {
  const LaneBuffers& lanes = lanes_for(step, arm);
  const std::int64_t tokens = plan_.step(step).tokens;
  std::vector<OutputView> views;
  for (int layer = 0; layer < config_.layers; ++layer) {
    const LayerBuffers& buffers = lanes.layers[static_cast<std::size_t>(layer)];
    const HeadsArg heads = heads_for(config_.tp, is_sparse_layer(layer, config_.layers));
    if (buffers.top_k != nullptr) {
      const std::int64_t run = config_.top_k * static_cast<std::int64_t>(sizeof(std::int32_t));
      OutputView view;
      view.view.layout = {.name = fmt::format("layer {} top-k", layer),
                          .kind = model::CacheKind::kTopK,
                          .layer = layer,
                          .dtype = model::DType::kI32,
                          .pages = 1,
                          .page_size = tokens,
                          .heads = heads.index_q,
                          .dim = config_.top_k,
                          .page_stride = tokens * run,
                          .slot_stride = run,
                          .head_stride = lanes.capacity * run,
                          .sinks = {}};
      view.view.base = buffers.top_k;
      views.push_back(std::move(view));
    }
    OutputView view;
    view.view.layout = {.name = fmt::format("layer {} output", layer),
                        .kind = model::CacheKind::kOutput,
                        .layer = layer,
                        .dtype = model::DType::kBf16,
                        .pages = 1,
                        .page_size = tokens,
                        .heads = heads.q,
                        .dim = kHeadDim,
                        .page_stride = tokens * heads.q * kHeadDim * 2,
                        .slot_stride = static_cast<std::int64_t>(heads.q) * kHeadDim * 2,
                        .head_stride = kHeadDim * 2,
                        .sinks = {}};
    view.view.base = buffers.out;
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<InputView> MinimaxM3Step::inputs(int step, Arm arm) const {
  const LaneBuffers& lanes = lanes_for(step, arm);
  const bool padded = &lanes == &persistent_;
  const std::int64_t count = padded ? plan_.step(step).bucket : plan_.step(step).tokens;
  std::vector<InputView> views;
  for (int layer = 0; layer < config_.layers; ++layer) {
    const HeadsArg heads = heads_for(config_.tp, is_sparse_layer(layer, config_.layers));
    const std::int64_t bytes = row_width(heads) * 2;
    views.push_back({fmt::format("layer {} input", layer),
                     lanes.layers[static_cast<std::size_t>(layer)].base, bytes, bytes, count,
                     model::DType::kBf16, true});
  }
  views.push_back({"positions", lanes.positions, 8, 8, count, model::DType::kI64, false});
  views.push_back({"slot mapping", lanes.slots, 8, 8, count, model::DType::kI64, false, -1});
  views.push_back({"sequence lengths", lanes.seq_lens, 4, 4, count, model::DType::kI32, false});
  std::vector<InputView> more = program_->inputs(step, arm);
  std::move(more.begin(), more.end(), std::back_inserter(views));
  return views;
}

std::optional<model::LogicalRow> MinimaxM3Step::owner(int cache, std::int64_t row) const {
  const model::CacheLayout& layout = description_.caches.at(static_cast<std::size_t>(cache)).layout;
  if (layout.kind == model::CacheKind::kGuard) return std::nullopt;
  const std::vector<std::int32_t>& table = plan_.block_table();
  const auto entry = std::find(table.begin(), table.end(), layout.page_of(row));
  if (entry == table.end() || layout.page_of(row) == 0) return std::nullopt;
  const std::int64_t index = entry - table.begin();
  const auto sequence = static_cast<int>(index / plan_.table_stride());
  const std::int64_t position =
      index % plan_.table_stride() * config_.page_size + layout.slot_of(row);
  // Pages hold room for tokens that this run may never reach.
  if (position >= plan_.end(sequence)) return std::nullopt;
  return model::LogicalRow{sequence, position, layout.layer, layout.kind};
}

void MinimaxM3Step::reset(device::StreamRef stream) {
  pool_.reset(stream);
  exact_.memory.clear(stream);
  persistent_.memory.clear(stream);
  const std::vector<std::int32_t>& table = plan_.block_table();
  for (const LaneBuffers* lanes : {&exact_, &persistent_}) {
    device_->copy(stream, lanes->block_table, table.data(), table.size() * sizeof(std::int32_t));
  }
  for (int layer = 0; layer < config_.layers; ++layer) {
    const std::vector<std::uint16_t> rows = data_.earlier_batch(layer, persistent_.capacity);
    device_->copy(stream, persistent_.layers[static_cast<std::size_t>(layer)].base, rows.data(),
                  rows.size() * sizeof(std::uint16_t));
    device_->synchronize(stream);
  }
  program_->reset(shared_, stream);
  device_->synchronize(stream);
  forward_.set_metadata(nullptr);
}

void MinimaxM3Step::profile(device::StreamRef stream) {
  load_dummy_batch(stream, persistent_.capacity);
  forward_.set_metadata(nullptr);
  forward_.run(stream, persistent_, persistent_.capacity, nullptr);
}

void MinimaxM3Step::load_history_chunk(device::StreamRef stream, int layer, int sequence,
                                       std::int64_t first, std::int64_t count) {
  const std::vector<std::uint16_t> rows = data_.history(layer, sequence, first, count);
  std::vector<std::int64_t> slots(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    slots[static_cast<std::size_t>(i)] = plan_.slot(sequence, first + i);
  }
  const device::Buffer row_memory{*device_, rows.size() * sizeof(std::uint16_t)};
  const device::Buffer slot_memory{*device_, slots.size() * sizeof(std::int64_t)};
  device_->copy(stream, row_memory.data(), rows.data(), row_memory.bytes());
  device_->copy(stream, slot_memory.data(), slots.data(), slot_memory.bytes());
  const HeadsArg heads = heads_for(config_.tp, is_sparse_layer(layer, config_.layers));
  const std::int64_t width = (2 * heads.kv + heads.index_k) * kHeadDim;
  const auto tokens = static_cast<std::int32_t>(count);
  const auto* row = row_memory.as<const std::uint16_t>();
  launch_reshape_and_cache(*device_, stream,
                           {.key = row,
                            .value = row + static_cast<std::ptrdiff_t>(heads.kv) * kHeadDim,
                            .key_stride = width,
                            .value_stride = width,
                            .slots = slot_memory.as<const std::int64_t>(),
                            .k_scale = nullptr,
                            .v_scale = nullptr,
                            .cache = history_.kv(layer),
                            .tokens = tokens,
                            .scale_count = 1});
  if (heads.index_k != 0) {
    launch_index_key_write(*device_, stream,
                           {.index_k = row + (width - kHeadDim),
                            .stride = width,
                            .slots = slot_memory.as<const std::int64_t>(),
                            .cache = history_.index(layer),
                            .tokens = tokens,
                            .negative = NegativeSlot::kSkip});
  }
  device_->synchronize(stream);
}

void MinimaxM3Step::load_history(device::StreamRef stream) {
  constexpr std::int64_t kChunk = 4096;
  history_.reset(stream);
  for (int layer = 0; layer < config_.layers; ++layer) {
    for (int sequence = 0; sequence < plan_.sequences(); ++sequence) {
      for (std::int64_t first = 0; first < plan_.history(); first += kChunk) {
        load_history_chunk(stream, layer, sequence, first,
                           std::min(kChunk, plan_.history() - first));
      }
    }
  }
}

void MinimaxM3Step::split_history_pages() {
  const std::int64_t whole = plan_.history() / config_.page_size;
  for (int sequence = 0; sequence < plan_.sequences(); ++sequence) {
    for (std::int64_t page = 0; page < whole; ++page) {
      history_pages_.push_back(plan_.slot(sequence, page * config_.page_size) / config_.page_size);
    }
    for (std::int64_t p = whole * config_.page_size; p < plan_.history(); ++p) {
      const std::int64_t row = plan_.slot(sequence, p);
      for (int cache = 0; cache < static_cast<int>(description_.caches.size()); ++cache) {
        const auto& layout = description_.caches[static_cast<std::size_t>(cache)].layout;
        if (layout.kind == model::CacheKind::kGuard) continue;
        history_rows_.push_back(pool_set_->global_row(cache, row));
      }
    }
  }
  std::sort(history_pages_.begin(), history_pages_.end());
  std::sort(history_rows_.begin(), history_rows_.end());
}

void MinimaxM3Step::write_history(device::StreamRef stream) {
  pool_.copy_pages(stream, history_, history_pages_);
  kvcache::copy_rows(stream, *history_set_, *pool_set_, history_rows_);
  program_->history_written(shared_, stream);
}

void MinimaxM3Step::load_dummy_batch(device::StreamRef stream, int bucket) {
  const std::vector<std::int64_t> slots(static_cast<std::size_t>(bucket), -1);
  const auto lanes = static_cast<std::size_t>(bucket);
  device_->copy(stream, persistent_.slots, slots.data(), lanes * sizeof(std::int64_t));
  device_->fill(stream, persistent_.positions, 0, lanes * sizeof(std::int64_t));
  device_->fill(stream, persistent_.lane_sequence, 0, lanes * sizeof(std::int32_t));
  device_->fill(stream, persistent_.seq_lens, 0, lanes * sizeof(std::int32_t));
  device_->synchronize(stream);
}

void MinimaxM3Step::prepare(int step, Arm arm, device::StreamRef stream) {
  const LaneBuffers& lanes = lanes_for(step, arm);
  const model::StepFacts& batch = plan_.step(step);
  const int count = &lanes == &persistent_ ? batch.bucket : batch.tokens;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count), 0);
  std::vector<std::int64_t> slots(static_cast<std::size_t>(count), -1);
  std::vector<std::int32_t> sequences(static_cast<std::size_t>(count), 0);
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(count), 0);
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(batch.tokens); ++lane) {
    const model::Lane& token = batch.lanes[lane];
    positions[lane] = token.position;
    slots[lane] = token.slot;
    sequences[lane] = token.sequence;
    lengths[lane] = static_cast<std::int32_t>(token.position + 1);
  }
  const auto upload = [&](auto* to, const auto& from) {
    device_->copy(stream, to, from.data(), from.size() * sizeof(from[0]));
  };
  upload(lanes.positions, positions);
  upload(lanes.slots, slots);
  upload(lanes.lane_sequence, sequences);
  upload(lanes.seq_lens, lengths);
  std::vector<std::vector<std::uint16_t>> rows;
  for (int layer = 0; layer < config_.layers; ++layer) {
    rows.push_back(data_.rows(layer, step));
    upload(lanes.layers[static_cast<std::size_t>(layer)].base, rows.back());
  }
  device_->synchronize(stream);
  std::int64_t longest = 0;
  for (const std::int32_t length : lengths) longest = std::max<std::int64_t>(longest, length);
  live_metadata_ = {
      .slots = lanes.slots,
      .length = count,
      .step = step,
      .tokens = batch.tokens,
      .max_context = longest,
      .lanes = std::span{batch.lanes}.first(static_cast<std::size_t>(
          std::min<std::size_t>(batch.lanes.size(), static_cast<std::size_t>(count))))};
  program_->refill({shared_, stream, step, arm, lanes, live_metadata_});
  forward_.set_metadata(&live_metadata_);
}

void MinimaxM3Step::run(int step, Arm arm, device::StreamRef stream) {
  const LaneBuffers& lanes = lanes_for(step, arm);
  const model::StepFacts& batch = plan_.step(step);
  forward_.run(stream, lanes, &lanes == &persistent_ ? batch.bucket : batch.tokens, &pool_);
}

device::AddressMap MinimaxM3Step::addresses() const {
  device::AddressMap map;
  for (const device::Block& block : allocator_.snapshot()) {
    const bool pool = block.pool.value != 0;
    map.add(
        {.begin = block.address,
         .end = block.address + block.bytes,
         .owner = pool ? device::Owner::kGraphPool
                       : (block.live ? device::Owner::kOtherAllocation : device::Owner::kFreeBlock),
         .name = pool         ? "graph pool"
                 : block.live ? fmt::format("allocation {}", block.allocated_epoch)
                              : std::string{}});
  }
  program_->describe(map);
  weights_.memory.describe(map);
  pool_.describe(map);
  exact_.memory.describe(map);
  persistent_.memory.describe(map);
  return map;
}

std::vector<ScratchView> MinimaxM3Step::scratch() const {
  std::vector<ScratchView> views;
  for (const device::Block& block : allocator_.snapshot()) {
    views.push_back({reinterpret_cast<void*>(block.address), static_cast<std::int64_t>(block.bytes),
                     block.pool.value != 0, block.live});
  }
  return views;
}

std::unique_ptr<CapturedStep> MinimaxM3Step::capture(const CaptureRequest& request,
                                                     device::StreamRef stream) {
  auto captured = std::make_unique<CapturedMinimaxM3>();
  if (request.keep_freed) {
    captured->kept = std::make_unique<device::FreedBlocksKept>(allocator_);
  }
  captured->graph_pool = allocator_.create_pool();
  // One graph for each (bucket, preset, kind) in use, largest bucket first.
  for (const int bucket : plan_.buckets()) {
    for (int step = 0; step < config_.steps; ++step) {
      const CapturePreset wanted = preset(step);
      if (plan_.step(step).bucket != bucket || !wanted.covered) continue;
      CaptureRequest one = request;
      if (request.metadata == CaptureMetadata::kLive &&
          plan_.step(request.live_step).bucket != bucket) {
        one.live_step = step;
      }
      const int kind = program_->graph_kind(step);
      if (captured->find(bucket, wanted.breaks, wanted.metadata, kind) < 0) {
        capture_bucket(*captured, one, stream, wanted, bucket, kind);
      }
    }
  }
  for (int step = 0; step < config_.steps; ++step) {
    const CapturePreset wanted = preset(step);
    const int bucket = plan_.step(step).bucket;
    int graph = -1;
    if (wanted.covered) {
      graph =
          captured->find(bucket, wanted.breaks, wanted.metadata, program_->dispatched_kind(step));
      if (graph < 0) {
        graph = captured->find(bucket, wanted.breaks, wanted.metadata, program_->graph_kind(step));
      }
    }
    captured->assign(bucket, graph);
  }
  return captured;
}

void MinimaxM3Step::capture_bucket(CapturedMinimaxM3& captured, const CaptureRequest& request,
                                   device::StreamRef stream, const CapturePreset& preset,
                                   int bucket, int kind) {
  const CaptureMetadata metadata = request.metadata.value_or(preset.metadata);
  Metadata dummy{
      .slots = persistent_.slots, .length = bucket, .max_context = program_->dummy_context(kind)};
  if (metadata == CaptureMetadata::kLive) {
    prepare(request.live_step, Arm::kGraph, stream);
  } else {
    load_dummy_batch(stream, bucket);
    forward_.set_metadata(metadata == CaptureMetadata::kDummy ? &dummy : nullptr);
  }
  program_->before_capture(shared_, stream, bucket);
  if (request.warm_up) {
    forward_.run(stream, persistent_, bucket, &pool_);
    device_->synchronize(stream);
  }
  allocator_.begin_pool(captured.graph_pool);
  SegmentedCapture capture{*device_, stream, request.mode};
  capture.begin();
  try {
    forward_.capture(capture, stream, persistent_, bucket, &pool_, preset.breaks,
                     captured.graph_pool);
  } catch (...) {
    allocator_.end_pool();
    throw;
  }
  auto segments = capture.end();
  allocator_.end_pool();
  device_->synchronize(stream);
  captured.add(bucket, preset.breaks, preset.metadata, kind, std::move(segments));
  program_->after_capture(shared_, stream, bucket);
  forward_.set_metadata(nullptr);
}

Oracle* MinimaxM3Step::oracle() { return reference_.get(); }

std::unique_ptr<Step> MinimaxM3Step::reshaped(const Reshape& reshape) const {
  Config config = config_;
  if (reshape.tokens) config.tokens = *reshape.tokens;
  return std::make_unique<MinimaxM3Step>(*device_, config, factory_);
}

}  // namespace graphsan::step::minimax_m3
