#include <array>

#include "trace/cupti_activity.hpp"

namespace graphsan::trace {
namespace {

constexpr std::array kNames{"libcupti.so.13", "libcupti.so"};
constexpr std::array kFolders{"/lib64", "/lib", "/extras/CUPTI/lib64"};
constexpr std::array kVariables{"CUDA_HOME", "CUDA_PATH"};

}  // namespace

std::vector<std::string> cupti_candidates(const EnvironmentVariable& environment) {
  std::vector<std::string> candidates{kNames.begin(), kNames.end()};
  std::vector<std::string> toolkits;
  for (const char* variable : kVariables) {
    const char* value = environment(variable);
    if (value != nullptr && *value != '\0') toolkits.emplace_back(value);
  }
  toolkits.emplace_back("/usr/local/cuda");
  for (const std::string& toolkit : toolkits) {
    for (const char* folder : kFolders) {
      for (const char* name : kNames) candidates.push_back(toolkit + folder + "/" + name);
    }
  }
  return candidates;
}

}  // namespace graphsan::trace
