#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphsan::model {

enum class NodeType : std::uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kHost,
  kEmpty,
  kEvent,
  kChildGraph,
  kAllocation,
  kConditional,
  kOther
};
[[nodiscard]] std::string_view to_string(NodeType type);
[[nodiscard]] std::optional<NodeType> parse_node_type(std::string_view word);

struct Extent3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  friend bool operator==(const Extent3&, const Extent3&) = default;
};

/// One kernel parameter as it was recorded, by value.
struct KernelArgument {
  std::uint32_t offset = 0;  ///< bytes from the start of the parameter buffer
  std::vector<std::byte> bytes;
};

/// What is known of one named field inside an argument, where the kernel's author declared it.
struct ArgumentField {
  std::string name;
  std::uint32_t offset = 0;  ///< bytes from the start of the parameter buffer
  std::uint32_t size = 0;
  bool is_pointer = false;
  bool is_written = false;  ///< a pointer to something that is not const
};

/// Who owns an address that a node names.
enum class OwnerKind : std::uint8_t {
  kNamedBuffer,
  kGraphPool,
  kFreeBlock,
  kOtherAllocation,
  kHostPageable,
  kHostPinned,
  kUnknown
};
[[nodiscard]] std::string_view to_string(OwnerKind kind);
[[nodiscard]] std::optional<OwnerKind> parse_owner_kind(std::string_view word);

/// An 8-byte word of a node's operands that is an address.
struct AddressUse {
  std::string field;  ///< `slot_mapping`, `destination`, or `+24` where no name is declared
  std::uint32_t offset = 0;
  std::uint64_t address = 0;
  OwnerKind owner = OwnerKind::kUnknown;
  std::string owner_name;
  std::uint64_t block = 0;  ///< first address of the owner's range; 0 where unknown
  // A node's address, as it resolved when the capture ended; equal to the above for a launch.
  OwnerKind captured_owner = OwnerKind::kUnknown;
  std::string captured_owner_name = {};
  std::uint64_t captured_block = 0;
};

struct CopyOperands {
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  std::uint64_t bytes = 0;
};

struct FillOperands {
  std::uint64_t destination = 0;
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;
};

/// One piece of device work as a value: a node of a captured graph, or an eager launch.
struct Work {
  int id = 0;  ///< creation order within its segment, or launch order within its step
  NodeType type = NodeType::kKernel;
  std::string name;    ///< kernel name; the type's word for other nodes
  std::string source;  ///< where it came from: the step's label (`layer 1 / insert`) or file:line
  Extent3 grid;
  Extent3 block;
  std::uint32_t shared_bytes = 0;
  std::vector<KernelArgument> arguments;
  std::vector<ArgumentField> fields;
  std::vector<AddressUse> addresses;
  std::optional<CopyOperands> copy;
  std::optional<FillOperands> fill;
};

struct GraphEdge {
  int from = 0;
  int to = 0;
  friend bool operator==(const GraphEdge&, const GraphEdge&) = default;
};

/// One captured segment. Nodes are in creation order; edges name them by id.
struct GraphSegment {
  int bucket = 0;
  int segment = 0;
  std::vector<Work> nodes;
  std::vector<GraphEdge> edges;
  std::string break_after;  ///< the op that runs eagerly after this segment, or empty
};

/// How one eager launch and one graph node correspond.
enum class AlignmentKind : std::uint8_t { kMatched, kMissing, kExtra, kOtherGrid, kOtherArguments };
[[nodiscard]] std::string_view to_string(AlignmentKind kind);
[[nodiscard]] std::optional<AlignmentKind> parse_alignment_kind(std::string_view word);

/// One line of the launch/node alignment. `kMissing`: a launch without a node; `kExtra`: a node
/// without a launch. Work run by an eager break during replay counts as present (`segment` -1).
struct Alignment {
  AlignmentKind kind = AlignmentKind::kMatched;
  int launch = -1;   ///< index into the eager launches
  int segment = -1;  ///< segment of the node
  int node = -1;     ///< id of the node in its segment
  std::string name;
  std::string source;
  std::vector<std::string> differing_fields;  ///< scalars that differ; pointers are not compared
};

/// `write_rows (layer 1 / insert)`; the name alone where the source is unknown.
[[nodiscard]] std::string with_source(std::string_view name, std::string_view source);
/// A source as findings hold it: nothing where it is unknown.
[[nodiscard]] std::optional<std::string> if_known(std::string_view source);

}  // namespace graphsan::model
