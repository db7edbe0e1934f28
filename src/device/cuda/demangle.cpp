#include "device/cuda/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace graphsan::device {

std::string demangle(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable{
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free};
  return status == 0 && readable != nullptr ? readable.get() : symbol;
}

}  // namespace graphsan::device
