#include "trace/cupti_activity.hpp"

namespace graphsan::trace {

TraceAvailability cupti_availability() {
  return {false,
          {},
          "this build has no CUPTI support",
          "install the CUDA toolkit with CUPTI and configure again"};
}

std::unique_ptr<ActivitySource> make_cupti_activity_source() {
  const TraceAvailability availability = cupti_availability();
  throw TraceError{availability.reason + "; " + availability.remedy};
}

}  // namespace graphsan::trace
