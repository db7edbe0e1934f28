#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace graphsan::device {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct LaunchDims {
  Dim3 grid;
  Dim3 block;
  std::uint32_t shared_bytes = 0;
};

/// A named member of a kernel's argument struct.
struct ArgumentFieldInfo {
  const char* name = "";
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool is_pointer = false;
  bool is_written = false;  ///< a pointer through which the kernel may write
};

/// What GRAPHSAN_ARGUMENT_FIELD expands to: a pointer to something that is not const is written.
template <typename Member>
[[nodiscard]] constexpr ArgumentFieldInfo argument_field(const char* name, std::size_t offset) {
  constexpr bool kWritten =
      std::is_pointer_v<Member> && !std::is_const_v<std::remove_pointer_t<Member>>;
  return {name, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(sizeof(Member)),
          std::is_pointer_v<Member>, kWritten};
}

/// The same field of a kernel that only reads through it.
[[nodiscard]] constexpr ArgumentFieldInfo read_only(ArgumentFieldInfo field) {
  field.is_written = false;
  return field;
}

/// Describes one member; use inside a static table beside the argument struct. A macro only because
/// it quotes the member.
#define GRAPHSAN_ARGUMENT_FIELD(Args, member) \
  ::graphsan::device::argument_field<decltype(Args::member)>(#member, offsetof(Args, member))

/// One operation in its two forms, which take the same argument struct by value.
///
/// The CUDA form is a `__global__` function with that struct as its only parameter; the host form
/// does the whole grid's work in one call. Instances are static and outlive every graph.
struct Kernel {
  const char* name = "";
  /// Host-side address of the `__global__` function; null in a build without CUDA.
  const void* cuda_symbol = nullptr;
  /// `args` points to the argument struct as it was at launch.
  void (*host_function)(const LaunchDims& dims, const void* args) = nullptr;
  std::size_t argument_bytes = 0;
  std::span<const ArgumentFieldInfo> fields;
  /// A host form that was not known when this was compiled: `foreign_function` is called in place
  /// of `host_function`, and `foreign` tells it which.
  const void* foreign = nullptr;
  void (*foreign_function)(const Kernel& self, const LaunchDims& dims, const void* args) = nullptr;
};

}  // namespace graphsan::device
