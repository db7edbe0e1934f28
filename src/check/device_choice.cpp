#include "check/device_choice.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include "device/cuda/cuda_device.hpp"
#include "device/host/host_device.hpp"
#include "trace/cupti_activity.hpp"

namespace graphsan::check {

namespace {

/// Simulated device memory: three quarters of the machine's.
std::size_t host_memory() {
  const auto pages = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES));
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return pages * page_bytes / 4 * 3;
}

}  // namespace

std::unique_ptr<device::Device> open_device(DeviceChoice choice, std::uint64_t seed) {
  if (choice != DeviceChoice::kHost) {
    const device::CudaAvailability cuda = device::cuda_availability();
    if (cuda.available) return device::make_cuda_device(device::current_cuda_device());
    if (choice == DeviceChoice::kCuda) throw NoGpuError{cuda.reason, cuda.remedy};
  }
  return device::make_host_device({.seed = seed, .memory_bytes = host_memory()});
}

model::Environment describe_environment(const device::Device& device) {
  const device::DeviceProperties& properties = device.properties();
  const bool cuda = properties.kind == device::DeviceKind::kCuda;
  model::Environment environment;
  environment.device = cuda ? "cuda" : "host";
  environment.device_name = properties.name;
  environment.driver = properties.driver_version;
  environment.cuda_runtime = properties.runtime_version;
  if (cuda) {
    environment.compute_capability =
        fmt::format("{}.{}", properties.compute_major, properties.compute_minor);
    const trace::TraceAvailability tracing = trace::cupti_availability();
    environment.tracing = tracing.available
                              ? "CUPTI available"
                              : fmt::format(
                                    "CUPTI not available: {}; kernel activity is not recorded, "
                                    "nothing else is lost",
                                    tracing.reason);
  } else {
    environment.tracing = "launches and nodes come from the simulated device";
  }
  environment.conversion = properties.native_fp8 ? "native" : "software";
  utsname system{};
  if (::uname(&system) == 0) {
    environment.operating_system =
        fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  }
  return environment;
}

}  // namespace graphsan::check
