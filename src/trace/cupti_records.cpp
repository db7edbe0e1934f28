#include "trace/cupti_records.hpp"

#include "device/cuda/demangle.hpp"

namespace graphsan::trace {
namespace {

/// Fields that all kinds of records have under the same names.
template <typename Record>
Activity common(const Record& record, ActivityKind kind) {
  Activity activity;
  activity.kind = kind;
  activity.start_ns = record.start;
  activity.end_ns = record.end;
  activity.device = record.deviceId;
  activity.context = record.contextId;
  activity.stream = record.streamId;
  activity.correlation = record.correlationId;
  activity.graph_node = record.graphNodeId;
  activity.graph = record.graphId;
  return activity;
}

Activity kernel(const CUpti_ActivityKernel10& record) {
  Activity activity = common(record, ActivityKind::kKernel);
  if (record.name != nullptr) activity.name = device::demangle(record.name);
  const auto extent = [](std::int32_t x, std::int32_t y, std::int32_t z) {
    return device::Dim3{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                        static_cast<std::uint32_t>(z)};
  };
  activity.dims.grid = extent(record.gridX, record.gridY, record.gridZ);
  activity.dims.block = extent(record.blockX, record.blockY, record.blockZ);
  activity.dims.shared_bytes = static_cast<std::uint32_t>(record.dynamicSharedMemory);
  return activity;
}

template <typename Record>
Activity copy(const Record& record) {
  Activity activity = common(record, ActivityKind::kCopy);
  activity.bytes = record.bytes;
  return activity;
}

Activity fill(const CUpti_ActivityMemset4& record) {
  Activity activity = common(record, ActivityKind::kFill);
  activity.bytes = record.bytes;
  activity.value = record.value;
  return activity;
}

template <typename Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

}  // namespace

std::optional<Activity> to_activity(const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
      record.kind == CUPTI_ACTIVITY_KIND_KERNEL) {
    return kernel(as<CUpti_ActivityKernel10>(record));
  }
  if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) return copy(as<CUpti_ActivityMemcpy6>(record));
  if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY2)
    return copy(as<CUpti_ActivityMemcpyPtoP4>(record));
  if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET) return fill(as<CUpti_ActivityMemset4>(record));
  return std::nullopt;
}

std::optional<ExternalId> to_external_id(const CUpti_Activity& record,
                                         CUpti_ExternalCorrelationKind kind) {
  if (record.kind != CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) return std::nullopt;
  const auto& external = as<CUpti_ActivityExternalCorrelation>(record);
  if (external.externalKind != kind) return std::nullopt;
  return ExternalId{external.correlationId, external.externalId};
}

}  // namespace graphsan::trace
