#pragma once

#include <graphsan/plugin.h>

#include "kvcache/cache_set.hpp"
#include "step/step.hpp"

// What a plug-in declares, as the step interface has it. Each throws PluginFailure, naming the
// buffer, for a declaration that describes no memory.
namespace graphsan::step::plugin {

[[nodiscard]] kvcache::CacheView cache_view(const graphsan_cache& cache);
[[nodiscard]] OutputView output_view(const graphsan_output& output, std::int64_t lanes);
[[nodiscard]] InputView input_view(const graphsan_input& input, std::int64_t lanes);
[[nodiscard]] OpaqueView opaque_view(const graphsan_state& state);

/// The batch of step `step`; `covered` where the engine has a graph for it.
[[nodiscard]] model::StepFacts step_facts(const graphsan_batch& batch, int step);

/// Throws PluginFailure where a lane's slot names a row that a cache does not have.
void require_rows(const model::StepFacts& batch, const std::vector<kvcache::CacheView>& caches);

/// Bytes from row 0, head 0 to the end of the last row.

}  // namespace graphsan::step::plugin
