#include "tests/support/test_kernels.hpp"

#include <algorithm>
#include <cstddef>

namespace graphsan::test {
namespace {

using device::ArgumentFieldInfo;
using device::Kernel;
using device::LaunchDims;

constexpr ArgumentFieldInfo kStoreWordFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(StoreWordArgs, destination),
    GRAPHSAN_ARGUMENT_FIELD(StoreWordArgs, value),
};
constexpr ArgumentFieldInfo kAddWordsFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(AddWordsArgs, destination),
    GRAPHSAN_ARGUMENT_FIELD(AddWordsArgs, value),
    GRAPHSAN_ARGUMENT_FIELD(AddWordsArgs, count),
};
constexpr ArgumentFieldInfo kCopyWordsFields[] = {
    GRAPHSAN_ARGUMENT_FIELD(CopyWordsArgs, destination),
    GRAPHSAN_ARGUMENT_FIELD(CopyWordsArgs, source),
    GRAPHSAN_ARGUMENT_FIELD(CopyWordsArgs, count),
};

void store_word_on_host(const LaunchDims& /*dims*/, const void* args) {
  const auto& a = *static_cast<const StoreWordArgs*>(args);
  *a.destination = a.value;
}

void add_words_on_host(const LaunchDims& /*dims*/, const void* args) {
  const auto& a = *static_cast<const AddWordsArgs*>(args);
  std::for_each_n(a.destination, a.count, [&a](std::uint64_t& word) { word += a.value; });
}

void copy_words_on_host(const LaunchDims& /*dims*/, const void* args) {
  const auto& a = *static_cast<const CopyWordsArgs*>(args);
  std::copy_n(a.source, a.count, a.destination);
}

}  // namespace

const Kernel& store_word_kernel() {
  static const Kernel kernel{"store_word", store_word_symbol(), &store_word_on_host,
                             sizeof(StoreWordArgs), kStoreWordFields};
  return kernel;
}

const Kernel& add_words_kernel() {
  static const Kernel kernel{"add_words", add_words_symbol(), &add_words_on_host,
                             sizeof(AddWordsArgs), kAddWordsFields};
  return kernel;
}

const Kernel& copy_words_kernel() {
  static const Kernel kernel{"copy_words", copy_words_symbol(), &copy_words_on_host,
                             sizeof(CopyWordsArgs), kCopyWordsFields};
  return kernel;
}

}  // namespace graphsan::test
