#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/probe.hpp"
#include "model/facts.hpp"
#include "model/finding.hpp"

namespace graphsan::probes {

/// Groups differing rows by cache into the `where` of a finding, in order of first appearance; the
/// rows of one cache are sorted and said once, however many steps they differ in.
[[nodiscard]] std::vector<model::Where> where_of(const model::Facts& facts,
                                                 const std::vector<model::RowDifference>& rows);

/// (step, cache, row) of each.
[[nodiscard]] std::vector<diagnose::RowKey> keys_of(const std::vector<model::RowDifference>& rows);

/// `key, value and index-key`: the kinds of the caches that `where` names, each once.
[[nodiscard]] std::string cache_list(const std::vector<model::Where>& where);

/// `page 33 slot 127`.
[[nodiscard]] std::string row_name(const model::CacheLayout& layout, std::int64_t row);

}  // namespace graphsan::probes
