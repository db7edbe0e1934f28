#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/handles.hpp"
#include "device/kernel.hpp"

namespace graphsan::device {

enum class NodeKind : std::uint8_t {
  kKernel,
  kCopy,
  kFill,
  kHostFunction,
  kEmpty,
  kEvent,
  kChildGraph,
  kAllocation,
  kConditional,
  kOther
};

/// One kernel parameter by value; `offset` is relative to the parameter buffer.
struct Argument {
  std::uint32_t offset = 0;
  std::vector<std::byte> bytes;
};

/// A one-dimensional copy, in bytes.
struct CopyParams {
  void* destination = nullptr;
  const void* source = nullptr;
  std::size_t bytes = 0;
};

/// `bytes` bytes set to `value` (element width 1).
struct FillParams {
  void* destination = nullptr;
  std::size_t bytes = 0;
  std::uint8_t value = 0;
};

struct KernelParams {
  LaunchDims dims;
  std::vector<Argument> arguments;
};

/// A node of a captured graph, as a value.
struct NodeInfo {
  NodeRef node;
  NodeKind kind = NodeKind::kOther;
  std::string name;                ///< demangled kernel name, or the kind's word
  KernelParams kernel;             ///< kKernel
  bool packed_arguments = false;   ///< the arguments came through the packed `extra` form
  std::optional<CopyParams> copy;  ///< kCopy, one-dimensional only
  std::optional<FillParams> fill;  ///< kFill, one-dimensional only
  std::string unreadable;          ///< why operands could not be read, or empty
};

struct EdgeInfo {
  NodeRef from;
  NodeRef to;
};

/// A piece of work that passed through Device: launched, or recorded by a capture.
struct WorkRecord {
  NodeKind kind = NodeKind::kKernel;
  std::string name;
  std::string label;  ///< the innermost LabelScope when it was issued
  const Kernel* kernel = nullptr;
  LaunchDims dims;
  std::vector<std::byte> arguments;
  std::optional<CopyParams> copy;
  std::optional<FillParams> fill;
  bool captured = false;
  bool during_capture = false;  ///< issued while some capture of this device was under way
};

/// Learns what the work that follows on this thread is called; empty: it has no name.
class LabelListener {
 public:
  virtual ~LabelListener() = default;
  virtual void on_label(const std::string& label) = 0;
};

/// Sees every launch, copy and fill in issue order, on the issuing thread.
class WorkListener {
 public:
  virtual ~WorkListener() = default;
  virtual void on_work(const WorkRecord& record) = 0;
};

}  // namespace graphsan::device
