#include <gtest/gtest.h>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/demangle.hpp"

namespace graphsan::device {
namespace {

TEST(CudaAvailability, SaysWhyAndWhatToDoWhereThereIsNoDevice) {
  const CudaAvailability availability = cuda_availability();
  if (availability.available) GTEST_SKIP() << "this machine has a CUDA device";
  EXPECT_NE(availability.reason, "");
  EXPECT_NE(availability.remedy, "");
  EXPECT_EQ(availability.reason.find('\n'), std::string::npos);
  try {
    static_cast<void>(make_cuda_device(0));
    FAIL() << "a device was opened";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNoDevice);
    EXPECT_EQ(error.what(), availability.reason + "; " + availability.remedy);
  }
}

TEST(CudaAvailability, GivesTheSameAnswerWhenAskedAgain) {
  EXPECT_EQ(cuda_availability().available, cuda_availability().available);
  EXPECT_EQ(cuda_availability().reason, cuda_availability().reason);
}

TEST(Demangle, ReadsMangledNamesAndKeepsOthers) {
  EXPECT_EQ(demangle("_ZN8graphsan4test5storeEPmm"),
            "graphsan::test::store(unsigned long*, unsigned long)");
  EXPECT_EQ(demangle("plain_c_kernel"), "plain_c_kernel");
  EXPECT_EQ(demangle(""), "");
}

}  // namespace
}  // namespace graphsan::device
