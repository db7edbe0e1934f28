#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace graphsan::device {

/// Why a device call failed, independent of the device.
enum class ErrorKind : std::uint8_t {
  kNoDevice,  ///< no GPU, no driver, or a driver too old
  kOutOfMemory,
  kCaptureRefused,      ///< illegal while a stream is capturing; the capture is invalid now
  kCaptureInvalidated,  ///< an earlier call, or an unjoined fork, spoiled the capture
  kNotSupported,        ///< the device or this kind of graph cannot do it
  kInvalidArgument,
  kSticky,  ///< illegal address and its like: the context is lost
  kOther
};

/// A device call failed. `what()` names the call and the reason.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(ErrorKind kind, const std::string& what) : std::runtime_error{what}, kind_{kind} {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace graphsan::device
