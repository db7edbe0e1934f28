// A GoogleMock matcher for reports: EXPECT_THAT(graphsan::check(step), graphsan::IsGraphSafe()).
#ifndef GRAPHSAN_GTEST_HPP
#define GRAPHSAN_GTEST_HPP

#include <gmock/gmock.h>
#include <graphsan/check.hpp>

#include <ostream>

namespace graphsan {

/// Matches a report whose verdict is `agreed`. Else it explains with the report's text: verdict,
/// and for each finding the mechanism, where, the evidence, the experiment and the fix. The
/// negation matches a check that failed as well: where a fault is expected, ask for
/// Report::verdict().
class GraphSafeMatcher : public ::testing::MatcherInterface<const Report&> {
 public:
  bool MatchAndExplain(const Report& report,
                       ::testing::MatchResultListener* listener) const override {
    if (report.agreed()) return true;
    *listener << "and the report says\n" << report.text();
    return false;
  }
  void DescribeTo(std::ostream* out) const override {
    *out << "does as a CUDA graph what it does eagerly";
  }
  void DescribeNegationTo(std::ostream* out) const override {
    *out << "is not shown to do as a CUDA graph what it does eagerly";
  }
};

// Named as GoogleMock names matchers.
// NOLINTNEXTLINE(readability-identifier-naming)
inline ::testing::Matcher<const Report&> IsGraphSafe() {
  return ::testing::MakeMatcher(new GraphSafeMatcher);
}

}  // namespace graphsan

#endif  // GRAPHSAN_GTEST_HPP
