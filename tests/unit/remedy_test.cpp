#include "check/remedy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace graphsan::check {
namespace {

using device::ErrorKind;
using model::Phase;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGone = "memory that the graph names and that is gone";

TEST(Remedy, LooksForMemoryThatIsGoneWhereOnlyAReplayFails) {
  EXPECT_THAT(remedy_for_crash("replay", 1), HasSubstr(kGone));
  EXPECT_THAT(remedy_for_crash("carried", 1), HasSubstr(kGone));
  EXPECT_THAT(remedy_for_crash("eager", 1), Not(HasSubstr(kGone)));
  EXPECT_THAT(remedy_for(ErrorKind::kSticky, Phase::kReplay, false), HasSubstr(kGone));
  EXPECT_THAT(remedy_for(ErrorKind::kSticky, Phase::kEager, false),
              HasSubstr("run the eager step"));
}

TEST(Remedy, AsksTheAuthorOfAStepToMendIt) {
  EXPECT_THAT(remedy_for(ErrorKind::kInvalidArgument, Phase::kEager, true), HasSubstr("mend"));
  EXPECT_THAT(remedy_for(ErrorKind::kInvalidArgument, Phase::kEager, false),
              HasSubstr("report it"));
  EXPECT_THAT(remedy_for(ErrorKind::kOutOfMemory, Phase::kEager, true), Not(HasSubstr("layers")));
}

TEST(Remedy, SpeaksOfOtherCasesOnlyWhereThereAreSome) {
  EXPECT_THAT(remedy_for_end(1), Not(HasSubstr("other cases")));
  EXPECT_THAT(remedy_for_end(2), HasSubstr("the other cases are not affected"));
}

}  // namespace
}  // namespace graphsan::check
