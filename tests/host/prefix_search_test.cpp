#include "diagnose/prefix_search.hpp"

#include <gtest/gtest.h>

#include "device/host/host_device.hpp"
#include "tests/support/prefix_search_scene.hpp"

namespace graphsan::diagnose {
namespace {

TEST(PrefixSearch, FindsTheLastPieceWithoutWhichTheEffectIsNotThere) {
  for (std::size_t writer = 0; writer < 17; ++writer) {
    const PrefixSearch search =
        search_prefixes(17, [&](std::size_t prefix) { return prefix > writer; });
    EXPECT_EQ(search.index, writer);
    EXPECT_LE(search.replays, 8);
  }
}

TEST(PrefixSearch, NamesNoneWhereAllOrNothingShowsIt) {
  EXPECT_EQ(search_prefixes(8, [](std::size_t) { return true; }).index, std::nullopt);
  EXPECT_EQ(search_prefixes(8, [](std::size_t) { return false; }).index, std::nullopt);
  EXPECT_EQ(search_prefixes(0, [](std::size_t) { return true; }).replays, 0);
}

TEST(PrefixSearch, FindsTheWriterInAGraphOfAThousandNodes) {
  const auto device = device::make_host_device({});
  test::find_the_writer_among_a_thousand(*device);
}

}  // namespace
}  // namespace graphsan::diagnose
