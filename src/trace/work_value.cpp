#include "trace/work_value.hpp"

#include <stdexcept>

namespace graphsan::trace {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

void set_dims(model::Work& work, const device::LaunchDims& dims) {
  work.grid = extent(dims.grid);
  work.block = extent(dims.block);
  work.shared_bytes = dims.shared_bytes;
}

void set_operands(model::Work& work, const std::optional<device::CopyParams>& copy,
                  const std::optional<device::FillParams>& fill) {
  if (copy) {
    work.copy =
        model::CopyOperands{address_of(copy->destination), address_of(copy->source), copy->bytes};
  }
  if (fill)
    work.fill = model::FillOperands{address_of(fill->destination), fill->bytes, fill->value};
}

/// The type's word, but for kernels, which have names of their own.
std::string name_of(model::NodeType type, const std::string& kernel_name) {
  return type == model::NodeType::kKernel ? kernel_name : std::string{to_string(type)};
}

}  // namespace

model::NodeType node_type(device::NodeKind kind) {
  switch (kind) {
    case device::NodeKind::kKernel:
      return model::NodeType::kKernel;
    case device::NodeKind::kCopy:
      return model::NodeType::kMemcpy;
    case device::NodeKind::kFill:
      return model::NodeType::kMemset;
    case device::NodeKind::kHostFunction:
      return model::NodeType::kHost;
    case device::NodeKind::kEmpty:
      return model::NodeType::kEmpty;
    case device::NodeKind::kEvent:
      return model::NodeType::kEvent;
    case device::NodeKind::kChildGraph:
      return model::NodeType::kChildGraph;
    case device::NodeKind::kAllocation:
      return model::NodeType::kAllocation;
    case device::NodeKind::kConditional:
      return model::NodeType::kConditional;
    case device::NodeKind::kOther:
      return model::NodeType::kOther;
  }
  throw std::logic_error{"a node kind that is no enumerator"};
}

model::Extent3 extent(const device::Dim3& dims) { return {dims.x, dims.y, dims.z}; }

std::vector<model::ArgumentField> argument_fields(const device::Kernel& kernel) {
  std::vector<model::ArgumentField> fields;
  fields.reserve(kernel.fields.size());
  for (const device::ArgumentFieldInfo& field : kernel.fields) {
    fields.push_back({field.name, field.offset, field.size, field.is_pointer, field.is_written});
  }
  return fields;
}

model::Work to_work(const device::WorkRecord& record, int id) {
  model::Work work;
  work.id = id;
  work.type = node_type(record.kind);
  work.name = name_of(work.type, record.name);
  work.source = record.label;
  if (work.type == model::NodeType::kKernel) set_dims(work, record.dims);
  if (!record.arguments.empty()) work.arguments.push_back({0, record.arguments});
  if (record.kernel != nullptr) work.fields = argument_fields(*record.kernel);
  set_operands(work, record.copy, record.fill);
  return work;
}

model::Work to_work(const device::NodeInfo& node, int id) {
  model::Work work;
  work.id = id;
  work.type = node_type(node.kind);
  work.name = name_of(work.type, node.name);
  if (work.type == model::NodeType::kKernel) set_dims(work, node.kernel.dims);
  for (const device::Argument& argument : node.kernel.arguments) {
    work.arguments.push_back({argument.offset, argument.bytes});
  }
  set_operands(work, node.copy, node.fill);
  return work;
}

}  // namespace graphsan::trace
