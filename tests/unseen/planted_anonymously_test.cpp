#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "probes/fault_registry.hpp"
#include "probes/registry.hpp"
#include "tests/unseen/check_program.hpp"

namespace graphsan::test {
namespace {

/// The fault's own case, under no name at all.
model::CaseReport check_without_its_name(const faults::PlantedFault& fault) {
  return check_program(fault.options, fault.program);
}

/// Every variant of every mechanism; the first ones under a sanitizer, which takes ten times as
/// long.
std::vector<faults::PlantedFault> variants() {
  std::vector<faults::PlantedFault> chosen;
  for (const faults::PlantedFault& fault : faults::planted_faults()) {
#if defined(__SANITIZE_ADDRESS__)
    if (!chosen.empty() && chosen.back().id == fault.id) continue;
#endif
    chosen.push_back(fault);
  }
  return chosen;
}

std::set<std::string> mechanisms_of(const std::vector<model::Finding>& findings) {
  std::set<std::string> ids;
  for (const model::Finding& finding : findings) ids.insert(finding.mechanism);
  return ids;
}

class PlantedAnonymously : public ::testing::TestWithParam<faults::PlantedFault> {};

TEST_P(PlantedAnonymously, IsFoundWithoutItsName) {
  const std::string id = GetParam().id;
  const model::CaseReport report = check_without_its_name(GetParam());
  EXPECT_EQ(report.config.fault, "");
  EXPECT_THAT(mechanisms_of(report.findings), ::testing::ElementsAre(id));
  for (const model::Finding& finding : report.findings) {
    EXPECT_TRUE(finding.status == model::FindingStatus::kConfirmed ||
                (report.verdict == model::Verdict::kHazard && report.experiments.empty()))
        << finding.not_runnable;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedAnonymously, ::testing::ValuesIn(variants()),
                         [](const ::testing::TestParamInfo<faults::PlantedFault>& fault) {
                           std::string name = fault.param.id + '_' + fault.param.variant;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PlantedFaults, AnAliasIsShownByTheOperandThatIsReadFromIt) {
  const faults::PlantedFault* fault = faults::find_fault("pool-alias:selection");
  ASSERT_NE(fault, nullptr);
  const model::CaseReport report = check_without_its_name(*fault);
  ASSERT_EQ(report.findings.size(), 1U);
  // Attention reads the selection whose block the fault gives to others; the fill only writes.
  EXPECT_THAT(report.findings[0].evidence,
              ::testing::Contains(::testing::HasSubstr("sparse_attention (layer 1 / attention) "
                                                       "reads top_k")));
}

TEST(PlantedFaults, EveryMechanismHasThreeVariantsAtLeastAndCleanTwins) {
  const diagnose::ProbeRegistry registry = probes::builtin_probes();
  EXPECT_EQ(registry.ids().size(), 25U);
  for (const std::string& id : registry.ids()) {
    std::set<std::string> variants;
    for (const faults::PlantedFault& fault : faults::planted_faults()) {
      if (fault.id != id) continue;
      variants.insert(fault.variant);
      EXPECT_TRUE(fault.program && fault.clean_twin) << id << ':' << fault.variant;
    }
    EXPECT_GE(variants.size(), 3U) << id;
  }
}

}  // namespace
}  // namespace graphsan::test
