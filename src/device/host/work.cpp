#include "device/host/work.hpp"

#include <cstdint>
#include <cstring>
#include <exception>

#include "device/error.hpp"

namespace graphsan::device::host {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

void execute_kernel(const KernelWork& work) {
  try {
    const Kernel& kernel = *work.kernel;
    if (kernel.foreign_function != nullptr) {
      kernel.foreign_function(kernel, work.dims, work.arguments.data());
    } else {
      kernel.host_function(work.dims, work.arguments.data());
    }
  } catch (const std::exception& error) {
    throw DeviceError{ErrorKind::kSticky,
                      "kernel " + std::string{work.kernel->name} + " failed: " + error.what()};
  } catch (...) {
    throw DeviceError{ErrorKind::kSticky, "kernel " + std::string{work.kernel->name} +
                                              " failed: it threw something that is no "
                                              "std::exception"};
  }
}

bool is_empty(const Dim3& dim) { return dim.x == 0 || dim.y == 0 || dim.z == 0; }

}  // namespace

void execute(const Work& work) {
  std::visit(
      Overloaded{
          [](const KernelWork& kernel) { execute_kernel(kernel); },
          [](const CopyParams& copy) { std::memmove(copy.destination, copy.source, copy.bytes); },
          [](const FillParams& fill) { std::memset(fill.destination, fill.value, fill.bytes); }},
      work);
}

NodeKind node_kind(const Work& work) {
  return std::visit(Overloaded{[](const KernelWork&) { return NodeKind::kKernel; },
                               [](const CopyParams&) { return NodeKind::kCopy; },
                               [](const FillParams&) { return NodeKind::kFill; }},
                    work);
}

std::string node_name(const Work& work) {
  return std::visit(
      Overloaded{[](const KernelWork& kernel) -> std::string { return kernel.kernel->name; },
                 [](const CopyParams&) -> std::string { return "memcpy"; },
                 [](const FillParams&) -> std::string { return "memset"; }},
      work);
}

WorkRecord describe(const Work& work) {
  WorkRecord record;
  record.kind = node_kind(work);
  record.name = node_name(work);
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    record.kernel = kernel->kernel;
    record.dims = kernel->dims;
    record.arguments = kernel->arguments;
  } else if (const auto* copy = std::get_if<CopyParams>(&work)) {
    record.copy = *copy;
  } else if (const auto* fill = std::get_if<FillParams>(&work)) {
    record.fill = *fill;
  }
  return record;
}

void check_dims(const char* call, const LaunchDims& dims) {
  constexpr std::uint64_t kMaxBlockThreads = 1024;
  const std::uint64_t threads = std::uint64_t{dims.block.x} * dims.block.y * dims.block.z;
  if (is_empty(dims.grid) || is_empty(dims.block) || threads > kMaxBlockThreads) {
    throw DeviceError{ErrorKind::kInvalidArgument,
                      std::string{call} +
                          ": grid and block need 1 or more in each dimension, and "
                          "a block at most 1024 threads"};
  }
}

void check_address(const char* call, const void* address) {
  if (address == nullptr) {
    throw DeviceError{ErrorKind::kInvalidArgument, std::string{call} + ": an address is null"};
  }
}

}  // namespace graphsan::device::host
