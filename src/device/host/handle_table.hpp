#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "device/error.hpp"
#include "device/handles.hpp"

namespace graphsan::device::host {

/// Owns the objects behind one type of handle.
template <typename Tag, typename T>
class HandleTable {
 public:
  Ref<Tag> add(std::unique_ptr<T> object) {
    T* raw = object.get();
    objects_.emplace(raw, std::move(object));
    return Ref<Tag>{raw};
  }

  /// Throws kInvalidArgument, naming `call`, for a handle that is not of this device or was
  /// destroyed.
  [[nodiscard]] T& get(const char* call, Ref<Tag> ref) const {
    const auto found = objects_.find(ref.raw);
    if (found == objects_.end()) {
      throw DeviceError{ErrorKind::kInvalidArgument,
                        std::string{call} + ": a handle is not of this device, or was destroyed"};
    }
    return *found->second;
  }

  /// Hands the object over; null when there is none.
  [[nodiscard]] std::unique_ptr<T> take(Ref<Tag> ref) noexcept {
    const auto found = objects_.find(ref.raw);
    if (found == objects_.end()) return nullptr;
    std::unique_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  std::unordered_map<void*, std::unique_ptr<T>> objects_;
};

}  // namespace graphsan::device::host
