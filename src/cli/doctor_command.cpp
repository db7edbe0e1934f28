#include <fmt/format.h>

#include <ostream>

#include "check/device_choice.hpp"
#include "cli/command.hpp"
#include "device/cuda/cuda_device.hpp"
#include "trace/cupti_activity.hpp"

namespace graphsan::cli {

namespace {

void line(Context& context, const char* what, const std::string& state) {
  context.out << fmt::format("{:<16} {}\n", what, state);
}

void hint(Context& context, const std::string& text) {
  if (!text.empty()) context.out << fmt::format("{:<16} Hint: {}\n", "", text);
}

int doctor(Context& context) {
  line(context, "host device", "works: CUDA's streams, capture and graphs simulated on the CPU");
  const device::CudaAvailability cuda = device::cuda_availability();
  if (!cuda.available) {
    line(context, "cuda device", "not available: " + cuda.reason);
    hint(context, cuda.remedy);
    line(context, "fp8 conversion", "software, byte-identical to the instruction");
  } else {
    const std::unique_ptr<device::Device> opened =
        check::open_device(check::DeviceChoice::kCuda, 1);
    const model::Environment environment = check::describe_environment(*opened);
    line(context, "cuda device",
         fmt::format("{}, compute capability {}, driver {}, built with CUDA {}",
                     environment.device_name, environment.compute_capability, environment.driver,
                     environment.cuda_runtime));
    line(context, "memory",
         fmt::format("{:.1f} GiB free of {:.1f} GiB",
                     static_cast<double>(opened->free_memory()) / (1ULL << 30),
                     static_cast<double>(opened->properties().total_memory) / (1ULL << 30)));
    line(context, "fp8 conversion",
         environment.conversion == "native"
             ? "native"
             : "software: this architecture has no instruction; the bytes are the same");
  }
  const trace::TraceAvailability tracing = trace::cupti_availability();
  if (tracing.available) {
    line(context, "CUPTI", "available");
  } else {
    line(context, "CUPTI", "not available: " + tracing.reason);
    hint(context,
         "kernel activity is then not recorded; verdicts, findings and graph nodes are "
         "not affected");
  }
  line(context, "libtorch", "not part of this build: exported models cannot be steps");
  return 0;
}

}  // namespace

void add_doctor_command(CLI::App& app, Registration& chosen) {
  CLI::App* command = app.add_subcommand(
      "doctor", "what of driver, CUPTI and conversion is there, and what to do about the rest");
  command->callback([&chosen] { chosen.action = doctor; });
}

}  // namespace graphsan::cli
