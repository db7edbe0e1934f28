#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace graphsan::test {

/// A file of `tests/data`: in the folder that GRAPHSAN_TEST_DATA names, else below the current one.
inline std::filesystem::path data_file(const std::string& name) {
  const char* folder = std::getenv("GRAPHSAN_TEST_DATA");
  return std::filesystem::path{folder == nullptr ? "tests/data" : folder} / name;
}

/// Reads a safetensors file: 8 bytes of header length, a JSON header, raw tensors.
class SafeTensors {
 public:
  explicit SafeTensors(const std::string& name) : path_{data_file(name)} {
    std::ifstream file{path_, std::ios::binary};
    if (!file) throw std::runtime_error{"cannot read " + path_.string()};
    bytes_.assign(std::istreambuf_iterator<char>{file}, {});
    std::uint64_t header = 0;
    if (bytes_.size() < sizeof(header)) throw std::runtime_error{"no header in " + path_.string()};
    std::memcpy(&header, bytes_.data(), sizeof(header));
    data_ = sizeof(header) + header;
    if (data_ > bytes_.size()) throw std::runtime_error{"header cut short in " + path_.string()};
    header_ = nlohmann::json::parse(bytes_.begin() + sizeof(header),
                                    bytes_.begin() + static_cast<std::ptrdiff_t>(data_));
  }

  /// Elements of a tensor in row-major order; `T` must have the size of the stored type.
  template <typename T>
  [[nodiscard]] std::vector<T> get(const std::string& tensor) const {
    const auto found = header_.find(tensor);
    if (found == header_.end()) throw std::runtime_error{tensor + " is not in " + path_.string()};
    std::size_t count = 1;
    for (const std::size_t extent : (*found)["shape"]) count *= extent;
    const std::size_t begin = (*found)["data_offsets"][0];
    const std::size_t end = (*found)["data_offsets"][1];
    if (end - begin != count * sizeof(T) || data_ + end > bytes_.size()) {
      throw std::runtime_error{tensor + " has another element size in " + path_.string()};
    }
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes_.data() + data_ + begin, end - begin);
    return values;
  }

 private:
  std::filesystem::path path_;
  std::string bytes_;
  std::size_t data_ = 0;
  nlohmann::json header_;
};

}  // namespace graphsan::test
