#pragma once

#include <string>
#include <vector>

#include "model/graph.hpp"

namespace graphsan::trace {

/// Which operands of two pieces of the same work differ, pointers aside: names of declared fields,
/// `+24` for a 4-byte word of an argument whose fields nobody declared, `bytes` and `value` of
/// copies and fills. In order of offset.
///
/// Where nothing is declared, words that scan_addresses() found to be addresses count as pointers,
/// so both sides should have been scanned. Work without arguments, as an activity trace gives it,
/// differs in nothing.
[[nodiscard]] std::vector<std::string> differing_scalars(const model::Work& launch,
                                                         const model::Work& node);

}  // namespace graphsan::trace
