#include "step/minimax_m3/pool.hpp"

#include <fmt/format.h>

namespace graphsan::step::minimax_m3 {

namespace {

/// Strides of the main cache in bytes, minimax-m3.md 3: generation A is
/// (pages, 2, slots, heads, 128), generation B (pages, heads, slots, 256); the layout says whether
/// slots or heads come first within a page.
struct MainStrides {
  std::int64_t page;
  std::int64_t slot;
  std::int64_t head;
  std::int64_t value_offset;
};

MainStrides main_strides(const Config& config) {
  const auto element = static_cast<std::int64_t>(model::byte_size(config.kv_dtype));
  const std::int64_t heads = heads_for(config.tp, false).kv;
  const std::int64_t slots = config.page_size;
  const bool interleaved = config.generation == Generation::kB;
  const std::int64_t run = (interleaved ? 2 : 1) * kHeadDim * element;
  const std::int64_t plane = slots * heads * run;
  const bool nhd = config.layout == Layout::kNhd;
  return {.page = interleaved ? plane : 2 * plane,
          .slot = nhd ? heads * run : run,
          .head = nhd ? run : slots * run,
          .value_offset = interleaved ? kHeadDim * element : plane};
}

constexpr std::int64_t kIndexRowBytes = kHeadDim * 2;

}  // namespace

Pool::Pool(device::Device& device, device::StreamRef stream, const Config& config,
           const BatchPlan& plan, Conversion conversion, std::string prefix)
    : device_{&device}, config_{config}, conversion_{conversion}, pages_{plan.pages()} {
  const auto kv_bytes = static_cast<std::size_t>(pages_ * main_strides(config).page);
  const auto index_bytes = static_cast<std::size_t>(pages_ * config.page_size * kIndexRowBytes);
  for (int layer = 0; layer < config.layers; ++layer) {
    Layer made;
    made.kv = std::make_unique<kvcache::GuardedBuffer>(
        device, stream, kv_bytes, fmt::format("{}layer {} kv cache", prefix, layer));
    if (is_sparse_layer(layer, config.layers)) {
      made.index = std::make_unique<kvcache::GuardedBuffer>(
          device, stream, index_bytes, fmt::format("{}layer {} index-key cache", prefix, layer));
    }
    layers_.push_back(std::move(made));
  }
}

KvCacheArg Pool::kv(int layer) const {
  const MainStrides strides = main_strides(config_);
  auto* base = static_cast<std::byte*>(layers_[static_cast<std::size_t>(layer)].kv->data());
  return {.key = base,
          .value = base + strides.value_offset,
          .page_stride = strides.page,
          .slot_stride = strides.slot,
          .head_stride = strides.head,
          .slots = pages_ * config_.page_size,
          .page_size = config_.page_size,
          .heads = heads_for(config_.tp, false).kv,
          .dtype = config_.kv_dtype,
          .conversion = conversion_};
}

IndexCacheArg Pool::index(int layer) const {
  const Layer& made = layers_[static_cast<std::size_t>(layer)];
  if (!made.index) return {.base = nullptr, .slots = 0};
  return {.base = static_cast<std::uint16_t*>(made.index->data()),
          .slots = pages_ * config_.page_size};
}

kvcache::CacheView Pool::main_view(int layer, model::CacheKind kind) const {
  const MainStrides strides = main_strides(config_);
  const bool key = kind == model::CacheKind::kKey;
  kvcache::CacheView view;
  view.layout = {.name = fmt::format("layer {} {}", layer, model::to_string(kind)),
                 .kind = kind,
                 .layer = layer,
                 .dtype = config_.kv_dtype,
                 .pages = pages_,
                 .page_size = config_.page_size,
                 .heads = heads_for(config_.tp, false).kv,
                 .dim = kHeadDim,
                 .page_stride = strides.page,
                 .slot_stride = strides.slot,
                 .head_stride = strides.head,
                 .sinks = {}};
  const KvCacheArg arg = kv(layer);
  view.base = key ? arg.key : arg.value;
  return view;
}

kvcache::CacheView Pool::index_view(int layer) const {
  kvcache::CacheView view;
  view.layout = {.name = fmt::format("layer {} index-key", layer),
                 .kind = model::CacheKind::kIndexKey,
                 .layer = layer,
                 .dtype = model::DType::kBf16,
                 .pages = pages_,
                 .page_size = config_.page_size,
                 .heads = 1,
                 .dim = kHeadDim,
                 .page_stride = config_.page_size * kIndexRowBytes,
                 .slot_stride = kIndexRowBytes,
                 .head_stride = kIndexRowBytes,
                 .sinks = {}};
  view.base = index(layer).base;
  return view;
}

std::vector<kvcache::CacheView> Pool::views() const {
  std::vector<kvcache::CacheView> views;
  std::vector<kvcache::CacheView> guards;
  for (int layer = 0; layer < config_.layers; ++layer) {
    views.push_back(main_view(layer, model::CacheKind::kKey));
    views.push_back(main_view(layer, model::CacheKind::kValue));
    const Layer& made = layers_[static_cast<std::size_t>(layer)];
    for (kvcache::CacheView& guard : made.kv->guard_views()) guards.push_back(std::move(guard));
    if (!made.index) continue;
    views.push_back(index_view(layer));
    for (kvcache::CacheView& guard : made.index->guard_views()) guards.push_back(std::move(guard));
  }
  views.insert(views.end(), guards.begin(), guards.end());
  return views;
}

void Pool::describe(device::AddressMap& map) const {
  const auto add = [&](const kvcache::GuardedBuffer& buffer) {
    const auto begin = reinterpret_cast<std::uint64_t>(buffer.data());
    map.add({.begin = begin,
             .end = begin + buffer.bytes(),
             .owner = device::Owner::kNamedBuffer,
             .name = buffer.name()});
  };
  for (const Layer& layer : layers_) {
    add(*layer.kv);
    if (layer.index) add(*layer.index);
  }
}

void Pool::reset(device::StreamRef stream) {
  for (Layer& layer : layers_) {
    layer.kv->reset(stream);
    if (layer.index) layer.index->reset(stream);
  }
}

void Pool::copy_pages(device::StreamRef stream, const Pool& from,
                      const std::vector<std::int64_t>& pages) {
  const auto copy = [&](const kvcache::GuardedBuffer& to, const kvcache::GuardedBuffer& source) {
    const std::size_t page_bytes = to.bytes() / static_cast<std::size_t>(pages_);
    // Neighbouring pages go in one copy.
    for (std::size_t i = 0; i < pages.size();) {
      std::size_t run = 1;
      while (i + run < pages.size() &&
             pages[i + run] == pages[i] + static_cast<std::int64_t>(run)) {
        ++run;
      }
      const std::size_t offset = static_cast<std::size_t>(pages[i]) * page_bytes;
      device_->copy(stream, static_cast<std::byte*>(to.data()) + offset,
                    static_cast<const std::byte*>(source.data()) + offset, run * page_bytes);
      i += run;
    }
  };
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    copy(*layers_[i].kv, *from.layers_[i].kv);
    if (layers_[i].index) copy(*layers_[i].index, *from.layers_[i].index);
  }
}

}  // namespace graphsan::step::minimax_m3
