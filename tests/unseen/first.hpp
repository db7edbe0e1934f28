#pragma once

#include <vector>

#include "tests/unseen/unseen_faults.hpp"

namespace graphsan::test {

/// Elided writes, branches at capture, escaped launches.
void add_first_work(std::vector<UnseenFault>& faults);
/// Frozen scalars and random numbers.
void add_first_values(std::vector<UnseenFault>& faults);
/// Moved buffers and stale contents.
void add_first_contents(std::vector<UnseenFault>& faults);
/// Freed memory and replaced workspaces.
void add_first_lifetimes(std::vector<UnseenFault>& faults);
/// Aliased pools.
void add_first_pools(std::vector<UnseenFault>& faults);
/// Dead host memory and padding writes.
void add_first_sources(std::vector<UnseenFault>& faults);

}  // namespace graphsan::test
