#include "device/cuda/node_order.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "device/error.hpp"

namespace graphsan::device {
namespace {

using Edges = std::vector<std::pair<std::size_t, std::size_t>>;
using Order = std::vector<std::size_t>;

TEST(NodeOrder, KeepsAListWhoseEdgesAllPointForward) {
  const Edges edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}};
  EXPECT_EQ(stable_topological_order(4, edges), (Order{0, 1, 2, 3}));
}

TEST(NodeOrder, KeepsAListWithoutEdges) {
  EXPECT_EQ(stable_topological_order(3, {}), (Order{0, 1, 2}));
  EXPECT_TRUE(stable_topological_order(0, {}).empty());
}

TEST(NodeOrder, MovesOnlyWhatABackwardEdgeForces) {
  const Edges edges{{3, 1}};
  EXPECT_EQ(stable_topological_order(4, edges), (Order{0, 2, 3, 1}));
}

TEST(NodeOrder, CountsAnEdgeThatIsListedTwice) {
  const Edges edges{{1, 0}, {1, 0}};
  EXPECT_EQ(stable_topological_order(2, edges), (Order{1, 0}));
}

TEST(NodeOrder, RefusesACycle) {
  const Edges edges{{0, 1}, {1, 0}};
  EXPECT_THROW(stable_topological_order(2, edges), DeviceError);
}

TEST(NodeOrder, RefusesAnEdgeToNowhere) {
  const Edges edges{{0, 2}};
  EXPECT_THROW(stable_topological_order(2, edges), DeviceError);
}

}  // namespace
}  // namespace graphsan::device
