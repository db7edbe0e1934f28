#pragma once

#include "model/facts.hpp"

namespace graphsan::test {

/// Whether the graph of a sample holds the cache writes.
enum class Inserts { kPresent, kElided };

/// Adds eager launches, graph segments and their alignment to `facts`, whose caches are there.
void add_sample_graph(model::Facts& facts, Inserts inserts, int bucket);

}  // namespace graphsan::test
