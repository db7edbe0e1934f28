#include "tests/gpu/cuda_device_test.hpp"
#include "tests/support/prefix_search_scene.hpp"

namespace graphsan::test {
namespace {

class PrefixSearchOnCuda : public CudaDeviceTest {};

TEST_F(PrefixSearchOnCuda, FindsTheWriterInAGraphOfAThousandNodes) {
  find_the_writer_among_a_thousand(device());
}

}  // namespace
}  // namespace graphsan::test
