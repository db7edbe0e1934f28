#include "probes/registry.hpp"

#include "probes/mechanism_texts.hpp"
#include "probes/mechanisms.hpp"

namespace graphsan::probes {

// The one file that knows every probe. Order matters: rows that a confirmed finding explains are
// not offered to later probes, so what is told by one exact fact comes before what is told by the
// shape of the damage.
diagnose::ProbeRegistry builtin_probes() {
  diagnose::ProbeRegistry registry;
  const auto add = [&](const char* id, std::unique_ptr<diagnose::Probe> probe) {
    registry.add(mechanism_text(id), std::move(probe));
  };
  add("unstable-eager", make_unstable_eager_probe());
  add("wrong-everywhere", make_wrong_everywhere_probe());
  add("topk-tie", make_topk_tie_probe());
  add("numeric-noise", make_numeric_noise_probe());
  add("escaped-launch", make_escaped_launch_probe());
  add("missing-dependency", make_missing_dependency_probe());
  add("wrong-graph", make_wrong_graph_probe());
  add("elided-write", make_elided_write_probe());
  add("branch-at-capture", make_branch_at_capture_probe());
  add("racy-staging", make_racy_staging_probe());
  add("moved-buffer", make_moved_buffer_probe());
  add("stale-contents", make_stale_contents_probe());
  add("dead-host-memory", make_dead_host_memory_probe());
  add("replaced-workspace", make_replaced_workspace_probe());
  add("freed-memory", make_freed_memory_probe());
  add("missing-reset", make_missing_reset_probe());
  add("wrong-scale", make_wrong_scale_probe());
  add("frozen-rng", make_frozen_rng_probe());
  add("frozen-scalar", make_frozen_scalar_probe());
  add("padding-metadata", make_padding_metadata_probe());
  add("padding-write", make_padding_write_probe());
  add("padding-leak", make_padding_leak_probe());
  add("pool-alias", make_pool_alias_probe());
  add("uninitialized-read", make_uninitialized_read_probe());
  add("capture-side-effect", make_capture_side_effect_probe());
  return registry;
}

}  // namespace graphsan::probes
