#include "trace/differing_scalars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace graphsan::trace {
namespace {

constexpr std::uint32_t kScalar = 4;
constexpr std::uint32_t kPointer = 8;

/// `size` bytes of the parameter buffer at `offset`; empty where no argument holds them all.
std::span<const std::byte> parameter_bytes(const model::Work& work, std::uint32_t offset,
                                           std::uint32_t size) {
  for (const model::KernelArgument& argument : work.arguments) {
    const std::size_t end = argument.offset + argument.bytes.size();
    if (offset < argument.offset || offset + size > end) continue;
    return std::span{argument.bytes}.subspan(offset - argument.offset, size);
  }
  return {};
}

bool differ(const model::Work& a, const model::Work& b, std::uint32_t offset, std::uint32_t size) {
  const auto left = parameter_bytes(a, offset, size);
  const auto right = parameter_bytes(b, offset, size);
  return !left.empty() && !right.empty() && !std::ranges::equal(left, right);
}

void compare_fields(const model::Work& a, const model::Work& b, std::vector<std::string>& names) {
  std::vector<model::ArgumentField> fields = a.fields.empty() ? b.fields : a.fields;
  std::ranges::stable_sort(fields, {}, &model::ArgumentField::offset);
  for (const model::ArgumentField& field : fields) {
    if (field.is_pointer) continue;
    if (differ(a, b, field.offset, field.size)) names.push_back(field.name);
  }
}

bool is_address(const model::Work& work, std::uint32_t offset) {
  return std::ranges::any_of(work.addresses, [offset](const model::AddressUse& use) {
    return offset + kScalar > use.offset && offset < use.offset + kPointer;
  });
}

void compare_words(const model::Work& a, const model::Work& b, std::vector<std::string>& names) {
  for (const model::KernelArgument& argument : a.arguments) {
    const auto size = static_cast<std::uint32_t>(argument.bytes.size());
    for (std::uint32_t at = 0; at < size; at += kScalar) {
      const std::uint32_t offset = argument.offset + at;
      if (is_address(a, offset) || is_address(b, offset)) continue;
      if (differ(a, b, offset, std::min(kScalar, size - at))) {
        names.push_back(fmt::format("+{}", offset));
      }
    }
  }
}

}  // namespace

std::vector<std::string> differing_scalars(const model::Work& launch, const model::Work& node) {
  std::vector<std::string> names;
  if (launch.fields.empty() && node.fields.empty()) {
    compare_words(launch, node, names);
  } else {
    compare_fields(launch, node, names);
  }
  if (launch.copy && node.copy && launch.copy->bytes != node.copy->bytes) names.push_back("bytes");
  if (launch.fill && node.fill) {
    if (launch.fill->bytes != node.fill->bytes) names.push_back("bytes");
    if (launch.fill->value != node.fill->value) names.push_back("value");
  }
  return names;
}

}  // namespace graphsan::trace
