#include "probes/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "probes/mechanism_texts.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(BuiltinProbes, KnowTheMechanismsOfTheSeed) {
  const diagnose::ProbeRegistry registry = builtin_probes();
  const std::vector<std::string> ids(registry.ids().begin(), registry.ids().end());
  EXPECT_THAT(ids, ::testing::IsSupersetOf({"elided-write", "padding-write"}));
}

TEST(BuiltinProbes, EachHasATextThatNamesItselfAndSaysHowToFixIt) {
  const diagnose::ProbeRegistry registry = builtin_probes();
  for (const std::string& id : registry.ids()) {
    ASSERT_NE(registry.find(id), nullptr) << id;
    const diagnose::MechanismText* text = registry.text(id);
    ASSERT_NE(text, nullptr) << id;
    EXPECT_EQ(text->id, id);
    EXPECT_FALSE(text->title.empty()) << id;
    EXPECT_EQ(text->title.find('\n'), std::string::npos) << id;
    EXPECT_THAT(text->text, StartsWith("# " + id + "\n"));
    EXPECT_THAT(text->text, HasSubstr("How it shows"));
    EXPECT_THAT(text->text, HasSubstr("How it is confirmed"));
    EXPECT_THAT(text->text, HasSubstr("How to fix it"));
  }
}

TEST(ProbeRegistry, RefusesAnIdThatIsTaken) {
  diagnose::ProbeRegistry registry = builtin_probes();
  const std::size_t before = registry.ids().size();
  EXPECT_THROW(registry.add({"elided-write", "again", ""}, make_elided_write_probe()),
               std::logic_error);
  EXPECT_EQ(registry.ids().size(), before);
}

TEST(ProbeRegistry, KeepsTheOrderInWhichProbesWereAdded) {
  diagnose::ProbeRegistry registry;
  registry.add({"zebra", "", ""}, make_elided_write_probe());
  registry.add({"ant", "", ""}, make_elided_write_probe());
  EXPECT_EQ(registry.ids()[0], "zebra");
  EXPECT_EQ(registry.ids()[1], "ant");
}

TEST(ProbeRegistry, KnowsNothingOfAnUnknownId) {
  const diagnose::ProbeRegistry registry = builtin_probes();
  EXPECT_EQ(registry.find("no-such-thing"), nullptr);
  EXPECT_EQ(registry.text("no-such-thing"), nullptr);
  EXPECT_THROW(static_cast<void>(mechanism_text("no-such-thing")), std::out_of_range);
}

}  // namespace
}  // namespace graphsan::probes
