#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "paged_write.hpp"

namespace paged_write {
namespace {

/// One block a lane, one thread an element.
__global__ void write_rows(Arguments args) {
  write_element(args, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
}

}  // namespace

void launch(void* stream, const Arguments& args) {
  write_rows<<<args.lanes, 2 * kRow, 0, static_cast<cudaStream_t>(stream)>>>(args);
  if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess) {
    throw std::runtime_error{std::string{"write_rows: "} + cudaGetErrorString(code)};
  }
}

}  // namespace paged_write
