#pragma once

#include <memory>

#include "diagnose/probe.hpp"

namespace graphsan::probes {

// Each is defined in the mechanism's folder.
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_elided_write_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_branch_at_capture_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_escaped_launch_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_frozen_scalar_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_frozen_rng_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_moved_buffer_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_stale_contents_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_freed_memory_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_replaced_workspace_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_pool_alias_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_dead_host_memory_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_padding_write_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_padding_leak_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_padding_metadata_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_capture_side_effect_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_wrong_graph_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_missing_dependency_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_missing_reset_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_racy_staging_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_uninitialized_read_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_wrong_scale_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_numeric_noise_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_unstable_eager_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_topk_tie_probe();
[[nodiscard]] std::unique_ptr<diagnose::Probe> make_wrong_everywhere_probe();

}  // namespace graphsan::probes
