#include "trace/alignment.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "trace/differing_scalars.hpp"

namespace graphsan::trace {
namespace {

using model::AlignmentKind;

model::Work kernel(int id, std::string name, std::string source) {
  model::Work work;
  work.id = id;
  work.name = std::move(name);
  work.source = std::move(source);
  return work;
}

model::GraphSegment segment(int number, std::vector<model::Work> nodes) {
  model::GraphSegment result;
  result.segment = number;
  result.nodes = std::move(nodes);
  return result;
}

template <typename Args>
model::KernelArgument argument(const Args& args) {
  model::KernelArgument result;
  result.bytes.resize(sizeof(args));
  std::memcpy(result.bytes.data(), &args, sizeof(args));
  return result;
}

struct SampleArgs {
  std::uint64_t pointer;
  std::uint32_t lanes;
  float scale;
};

model::Work with_args(const SampleArgs& args) {
  model::Work work = kernel(0, "insert", "layer 0 / insert");
  work.arguments = {argument(args)};
  work.fields = {{"pointer", 0, 8, true}, {"lanes", 8, 4, false}, {"scale", 12, 4, false}};
  return work;
}

TEST(Align, MatchesEqualWork) {
  const std::vector<model::Work> eager{kernel(0, "norm", "layer 0 / norm"),
                                       kernel(1, "insert", "layer 0 / insert")};
  const auto lines = align(eager, std::vector{segment(0, eager)}, {});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].kind, AlignmentKind::kMatched);
  EXPECT_EQ(lines[1].launch, 1);
  EXPECT_EQ(lines[1].segment, 0);
  EXPECT_EQ(lines[1].node, 1);
  EXPECT_EQ(lines[1].name, "insert");
  EXPECT_EQ(lines[1].source, "layer 0 / insert");
}

TEST(Align, NamesALaunchThatTheGraphDoesNotHave) {
  const std::vector<model::Work> eager{kernel(0, "norm", "layer 0 / norm"),
                                       kernel(1, "insert", "layer 0 / insert"),
                                       kernel(2, "attend", "layer 0 / attend")};
  const std::vector graph{
      segment(0, {kernel(0, "norm", "layer 0 / norm"), kernel(1, "attend", "layer 0 / attend")})};
  const auto lines = align(eager, graph, {});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].kind, AlignmentKind::kMissing);
  EXPECT_EQ(lines[1].launch, 1);
  EXPECT_EQ(lines[1].segment, -1);
  EXPECT_EQ(lines[1].node, -1);
  EXPECT_EQ(lines[1].name, "insert");
  EXPECT_EQ(lines[2].kind, AlignmentKind::kMatched);
}

TEST(Align, TellsByTheLabelWhichOfTwoEqualKernelsIsMissing) {
  const std::vector<model::Work> eager{kernel(0, "insert", "layer 0 / insert"),
                                       kernel(1, "insert", "layer 1 / insert")};
  const std::vector graph{segment(0, {kernel(0, "insert", "layer 1 / insert")})};
  const auto lines = align(eager, graph, {});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].kind, AlignmentKind::kMissing);
  EXPECT_EQ(lines[1].kind, AlignmentKind::kMatched);
  EXPECT_EQ(lines[1].node, 0);
}

TEST(Align, MatchesByNameAloneWhereOneSideHasNoLabel) {
  const std::vector<model::Work> eager{kernel(0, "gemm", "")};
  const std::vector graph{segment(0, {kernel(0, "gemm", "model.py:7")})};
  const auto lines = align(eager, graph, {});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].kind, AlignmentKind::kMatched);
  EXPECT_EQ(lines[0].source, "model.py:7");
}

TEST(Align, ListsANodeWithoutALaunchWhereItStands) {
  const std::vector<model::Work> eager{kernel(0, "score", "s"), kernel(1, "attend", "a")};
  const std::vector graph{segment(
      0, {kernel(0, "score", "s"), kernel(1, "first_blocks", "t"), kernel(2, "attend", "a")})};
  const auto lines = align(eager, graph, {});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].kind, AlignmentKind::kExtra);
  EXPECT_EQ(lines[1].launch, -1);
  EXPECT_EQ(lines[1].segment, 0);
  EXPECT_EQ(lines[1].node, 1);
  EXPECT_EQ(lines[1].name, "first_blocks");
}

TEST(Align, CountsWorkOfEagerBreaksAsPresent) {
  const std::vector<model::Work> eager{kernel(0, "norm", "n"), kernel(1, "attend", "a"),
                                       kernel(2, "mix", "m")};
  const std::vector graph{segment(0, {kernel(0, "norm", "n")}),
                          segment(1, {kernel(0, "mix", "m")})};
  const std::vector<model::Work> breaks{kernel(0, "attend", "a")};
  const auto lines = align(eager, graph, breaks);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].kind, AlignmentKind::kMatched);
  EXPECT_EQ(lines[1].segment, -1);
  EXPECT_EQ(lines[1].node, 0);
  EXPECT_EQ(lines[2].segment, 1);
}

TEST(Align, ListsBreakWorkWithoutALaunchLast) {
  const std::vector<model::Work> breaks{kernel(4, "attend", "a")};
  const auto lines = align({}, {}, breaks);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].kind, AlignmentKind::kExtra);
  EXPECT_EQ(lines[0].segment, -1);
  EXPECT_EQ(lines[0].node, 4);
}

TEST(Align, ReportsAnotherGridBeforeOtherArguments) {
  model::Work launch = with_args({1, 3, 1.0F});
  model::Work node = with_args({1, 8, 1.0F});
  auto lines = align(std::vector{launch}, std::vector{segment(0, {node})}, {});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].kind, AlignmentKind::kOtherArguments);
  EXPECT_EQ(lines[0].differing_fields, std::vector<std::string>{"lanes"});
  node.grid = {8, 1, 1};
  lines = align(std::vector{launch}, std::vector{segment(0, {node})}, {});
  EXPECT_EQ(lines[0].kind, AlignmentKind::kOtherGrid);
  EXPECT_EQ(lines[0].differing_fields, std::vector<std::string>{"lanes"});
}

TEST(Align, LeavesOutNodesThatAreNoLaunches) {
  model::Work empty = kernel(0, "empty", "");
  empty.type = model::NodeType::kEmpty;
  EXPECT_TRUE(align({}, std::vector{segment(0, {empty})}, {}).empty());
}

TEST(DifferingScalars, DoesNotComparePointers) {
  EXPECT_TRUE(differing_scalars(with_args({1, 3, 1.0F}), with_args({2, 3, 1.0F})).empty());
}

TEST(DifferingScalars, NamesEachDeclaredScalar) {
  const std::vector<std::string> expected{"lanes", "scale"};
  EXPECT_EQ(differing_scalars(with_args({1, 3, 1.0F}), with_args({1, 4, 2.0F})), expected);
}

TEST(DifferingScalars, ComparesWordsWhereNothingIsDeclaredButNotAddresses) {
  model::Work launch = with_args({0x7000, 3, 1.0F});
  model::Work node = with_args({0x8000, 5, 1.0F});
  launch.fields.clear();
  node.fields.clear();
  EXPECT_EQ(differing_scalars(launch, node), (std::vector<std::string>{"+0", "+8"}));
  launch.addresses = {{"+0", 0, 0x7000, model::OwnerKind::kNamedBuffer, "cache"}};
  EXPECT_EQ(differing_scalars(launch, node), std::vector<std::string>{"+8"});
}

TEST(DifferingScalars, FindsNoneWhereOneSideHasNoArguments) {
  model::Work launch = with_args({1, 3, 1.0F});
  launch.arguments.clear();
  EXPECT_TRUE(differing_scalars(launch, with_args({1, 4, 2.0F})).empty());
}

TEST(DifferingScalars, ComparesCopiesBySizeAndFillsByValueToo) {
  model::Work a;
  model::Work b;
  a.copy = model::CopyOperands{1, 2, 64};
  b.copy = model::CopyOperands{3, 4, 32};
  EXPECT_EQ(differing_scalars(a, b), std::vector<std::string>{"bytes"});
  model::Work c;
  model::Work d;
  c.fill = model::FillOperands{1, 64, 0};
  d.fill = model::FillOperands{1, 64, 255};
  EXPECT_EQ(differing_scalars(c, d), std::vector<std::string>{"value"});
}

}  // namespace
}  // namespace graphsan::trace
