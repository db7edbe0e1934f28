#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "device/device.hpp"

namespace graphsan::run {

/// Sources of this size and less are kept with a copy from host memory.
inline constexpr std::size_t kCopiedBytes = std::size_t{64} << 20;

/// Collects the work that a device is given during its life.
class WorkTap final : public device::WorkListener {
 public:
  /// `copied` null: what copies find at their sources is not kept.
  WorkTap(device::Device& device, std::vector<device::WorkRecord>& into,
          std::map<std::size_t, std::vector<std::byte>>* copied = nullptr)
      : device_{&device}, into_{&into}, copied_{copied} {
    device.set_work_listener(this);
  }
  WorkTap(const WorkTap&) = delete;
  WorkTap& operator=(const WorkTap&) = delete;
  ~WorkTap() override { device_->set_work_listener(nullptr); }
  void on_work(const device::WorkRecord& record) override {
    keep_source(record);
    into_->push_back(record);
  }

 private:
  void keep_source(const device::WorkRecord& record) {
    if (copied_ == nullptr || !record.copy || record.copy->bytes > kCopiedBytes) return;
    const device::Owner owner = device_->memory_kind(record.copy->source);
    if (owner != device::Owner::kHostPageable && owner != device::Owner::kHostPinned) return;
    const auto* source = static_cast<const std::byte*>(record.copy->source);
    (*copied_)[into_->size()].assign(source, source + record.copy->bytes);
  }

  device::Device* device_;
  std::vector<device::WorkRecord>* into_;
  std::map<std::size_t, std::vector<std::byte>>* copied_;
};

}  // namespace graphsan::run
