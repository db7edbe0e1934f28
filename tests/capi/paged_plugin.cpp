// The C++ step as a plug-in, for the test CppPlugin.
#include <graphsan/plugin.hpp>

#include "tests/capi/paged_step.hpp"

namespace {

struct FrozenStep : graphsan::test::PagedStep {
  FrozenStep() : PagedStep{Bug::kCountByValue} {}
};

}  // namespace

GRAPHSAN_PLUGIN(FrozenStep)
