#include "trace/address_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace graphsan::trace {
namespace {

constexpr std::uint32_t kWord = sizeof(std::uint64_t);

model::OwnerKind owner_kind(device::Owner owner) {
  switch (owner) {
    case device::Owner::kNamedBuffer:
      return model::OwnerKind::kNamedBuffer;
    case device::Owner::kGraphPool:
      return model::OwnerKind::kGraphPool;
    case device::Owner::kFreeBlock:
      return model::OwnerKind::kFreeBlock;
    case device::Owner::kOtherAllocation:
      return model::OwnerKind::kOtherAllocation;
    case device::Owner::kHostPageable:
      return model::OwnerKind::kHostPageable;
    case device::Owner::kHostPinned:
      return model::OwnerKind::kHostPinned;
    case device::Owner::kUnknown:
      return model::OwnerKind::kUnknown;
  }
  throw std::logic_error{"an owner that is no enumerator"};
}

/// The declared field that holds the whole word at `offset`; null where there is none.
const model::ArgumentField* field_at(const model::Work& work, std::uint32_t offset) {
  const auto found = std::ranges::find_if(work.fields, [offset](const model::ArgumentField& field) {
    return offset >= field.offset && offset + kWord <= field.offset + field.size;
  });
  return found == work.fields.end() ? nullptr : &*found;
}

/// `slot_mapping`; `tables+8` for a word inside a larger field; `+24` where nothing is declared.
std::string word_name(const model::Work& work, std::uint32_t offset) {
  const model::ArgumentField* field = field_at(work, offset);
  if (field == nullptr) return fmt::format("+{}", offset);
  if (offset == field->offset) return field->name;
  return fmt::format("{}+{}", field->name, offset - field->offset);
}

bool is_declared_pointer(const model::Work& work, std::uint32_t offset) {
  const model::ArgumentField* field = field_at(work, offset);
  return field != nullptr && field->is_pointer && field->offset == offset;
}

class Scan {
 public:
  Scan(const model::Work& work, const device::AddressMap& map, std::uint64_t epoch,
       const device::Device* device)
      : work_{work}, map_{map}, epoch_{epoch}, device_{device} {}

  std::vector<model::AddressUse> run() {
    for (const model::KernelArgument& argument : work_.arguments) {
      scan_words(argument);
      scan_unaligned_pointers(argument);
    }
    if (work_.copy) {
      add_declared("destination", 0, work_.copy->destination);
      add_declared("source", kWord, work_.copy->source);
    }
    if (work_.fill) add_declared("destination", 0, work_.fill->destination);
    std::ranges::stable_sort(uses_, {}, &model::AddressUse::offset);
    return std::move(uses_);
  }

 private:
  void scan_words(const model::KernelArgument& argument) {
    const std::uint32_t end = argument.offset + static_cast<std::uint32_t>(argument.bytes.size());
    const std::uint32_t first = (argument.offset + kWord - 1) / kWord * kWord;
    for (std::uint32_t offset = first; offset + kWord <= end; offset += kWord) {
      const std::uint64_t word = read(argument, offset);
      if (is_declared_pointer(work_, offset)) {
        add_declared(word_name(work_, offset), offset, word);
      } else {
        add_if_known(offset, word);
      }
    }
  }

  void scan_unaligned_pointers(const model::KernelArgument& argument) {
    for (const model::ArgumentField& field : work_.fields) {
      const bool inside = field.offset >= argument.offset &&
                          field.offset + kWord <= argument.offset + argument.bytes.size();
      if (!field.is_pointer || field.size != kWord || field.offset % kWord == 0 || !inside)
        continue;
      add_declared(field.name, field.offset, read(argument, field.offset));
    }
  }

  static std::uint64_t read(const model::KernelArgument& argument, std::uint32_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, argument.bytes.data() + (offset - argument.offset), sizeof(word));
    return word;
  }

  void add_declared(std::string name, std::uint32_t offset, std::uint64_t address) {
    device::OwnedRange range;
    if (address != 0) range = map_.resolve(address, epoch_);
    add(std::move(name), offset, address, range);
  }

  void add_if_known(std::uint32_t offset, std::uint64_t address) {
    if (address == 0) return;
    device::OwnedRange range = map_.resolve(address, epoch_);
    if (range.owner == device::Owner::kUnknown) range.owner = undeclared_owner(address);
    if (range.owner == device::Owner::kUnknown) return;
    add(word_name(work_, offset), offset, address, range);
  }

  /// What the device knows of a word that may be an address, where nobody says which words are.
  [[nodiscard]] device::Owner undeclared_owner(std::uint64_t address) const {
    if (device_ == nullptr || !work_.fields.empty()) return device::Owner::kUnknown;
    const device::Owner owner = device_->memory_kind(reinterpret_cast<const void*>(address));
    // A device takes any number for a pageable address.
    return owner == device::Owner::kHostPageable ? device::Owner::kUnknown : owner;
  }

  void add(std::string name, std::uint32_t offset, std::uint64_t address,
           const device::OwnedRange& range) {
    const model::OwnerKind owner = owner_kind(range.owner);
    uses_.push_back({.field = std::move(name),
                     .offset = offset,
                     .address = address,
                     .owner = owner,
                     .owner_name = range.name,
                     .block = range.begin,
                     .captured_owner = owner,
                     .captured_owner_name = range.name,
                     .captured_block = range.begin});
  }

  const model::Work& work_;
  const device::AddressMap& map_;
  std::uint64_t epoch_;
  const device::Device* device_;
  std::vector<model::AddressUse> uses_;
};

}  // namespace

std::vector<model::AddressUse> scan_addresses(const model::Work& work,
                                              const device::AddressMap& map, std::uint64_t epoch,
                                              const device::Device* device) {
  return Scan{work, map, epoch, device}.run();
}

void resolve_captured(model::GraphSegment& segment, const device::AddressMap& captured) {
  for (model::Work& node : segment.nodes) {
    for (model::AddressUse& use : node.addresses) {
      if (use.address == 0) continue;
      device::OwnedRange range = captured.resolve(use.address, 0);
      use.captured_owner = owner_kind(range.owner);
      use.captured_owner_name = std::move(range.name);
      use.captured_block = range.begin;
    }
  }
}

model::OwnerKind owner_of(device::Owner owner) { return owner_kind(owner); }

void resolve_addresses(model::GraphSegment& segment, const device::AddressMap& map,
                       std::uint64_t epoch, const device::Device* device) {
  for (model::Work& node : segment.nodes) node.addresses = scan_addresses(node, map, epoch, device);
}

}  // namespace graphsan::trace
