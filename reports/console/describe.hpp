#pragma once

#include <string>
#include <vector>

#include "model/run_report.hpp"

namespace graphsan::reports::console {

/// `fp8_e5m2 insert-kv-a piecewise decode 3/4`: the words of a case, tokens and bucket last.
[[nodiscard]] std::string case_name(const model::CaseConfig& config);

/// `layer 1 index-key: page 33 slots 126-127; node 7 index_put (layer 1 / insert)`.
[[nodiscard]] std::string where_text(const model::Where& where);

/// One line for each cache, class and origin that rows differ by, as in `layer 1 index-key: 2
/// missing (untouched), steps 1-2: page 33 slots 126-127`; then lines for top-k sets, outputs and
/// rows that were not listed. Empty when nothing differs.
[[nodiscard]] std::vector<std::string> difference_lines(const model::Facts& facts);

/// `index-key-write [first broken: step 1, layer 1, 3 rows missing] → score [broken] → top-k`;
/// empty when no link is broken.
[[nodiscard]] std::string chain_text(const std::vector<model::ChainLink>& chain);

/// `fp8_e5m2: round trip 4.49 % (normal: about 4.50 %) ...`.
[[nodiscard]] std::string budget_text(const model::ErrorBudget& budget);

/// `fp8_e5m2: 61440 bytes a token, 1398101 tokens fit (60 layers, TP 8, 80 GiB)`.
[[nodiscard]] std::string capacity_text(const model::Capacity& capacity);

/// `during replay, step 3: the worker was killed by signal 9; run it again`.
[[nodiscard]] std::string failure_text(const model::Failure& failure);

}  // namespace graphsan::reports::console
