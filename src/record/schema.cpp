#include "record/schema.hpp"

#include <string>

namespace graphsan::record {
namespace {

constexpr char kRunAndRows[] = R"sql(
CREATE TABLE run (
  run_id INTEGER PRIMARY KEY,           -- always 0
  tool_version TEXT, scenario TEXT, command TEXT,
  started_at TEXT,                      -- ISO 8601, UTC
  verdict TEXT, exit_code INTEGER,
  complete INTEGER,                     -- 0 until the run has finished with every case
  finished INTEGER NOT NULL DEFAULT 0,  -- 0: killed; verdict and exit code are not of this run
  incomplete_reason TEXT,
  seconds REAL
);
CREATE TABLE environment (
  run_id INTEGER PRIMARY KEY,
  device TEXT, device_name TEXT, driver TEXT, cuda_runtime TEXT, compute_capability TEXT,
  conversion TEXT, tracing TEXT, operating_system TEXT
);
CREATE TABLE error_budgets (
  run_id INTEGER, ordinal INTEGER, dtype TEXT, spread REAL, round_trip_mean_rel REAL,
  attention_mean_rel REAL, round_trip_expected REAL, normal INTEGER,
  histogram TEXT,                       -- JSON array of counts
  PRIMARY KEY (run_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE capacities (
  run_id INTEGER, ordinal INTEGER, dtype TEXT, bytes_per_token INTEGER, memory_bytes INTEGER,
  tokens INTEGER, basis TEXT,
  PRIMARY KEY (run_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE limits (
  run_id INTEGER, ordinal INTEGER, text TEXT, PRIMARY KEY (run_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE cases (
  case_id INTEGER PRIMARY KEY,          -- order of recording; what the other tables name
  case_index INTEGER, heading TEXT, title TEXT,
  step_under_test TEXT, kv_dtype TEXT, write_path TEXT, mode TEXT, batch TEXT, layout TEXT,
  generation TEXT, convert TEXT, fault TEXT, tokens INTEGER, bucket INTEGER, steps INTEGER,
  layers INTEGER, tp INTEGER, page_size INTEGER, context INTEGER, seed INTEGER, carry INTEGER,
  reproduce TEXT,                       -- command line of this case alone
  verdict TEXT, reason TEXT,
  failure_phase TEXT, failure_step INTEGER, failure_what TEXT, failure_remedy TEXT,  -- or NULL
  eager_ms REAL, graph_ms REAL,         -- median step; 0 where not measured
  seconds REAL,
  capture_metadata TEXT, padded_eager_ran INTEGER,
  padded_launches_captured INTEGER, reference_ran INTEGER,
  rows_compared INTEGER, rows_left_out INTEGER,
  rows_dropped INTEGER,                 -- differences counted but not in table rows
  replays INTEGER, nodes INTEGER,
  stability_ran INTEGER, stability_stable INTEGER, stability_rows_differing INTEGER,
  stability_max_noise REAL,
  stability_unstable_caches TEXT        -- JSON array of names
);
CREATE TABLE caches (
  case_id INTEGER, cache INTEGER, name TEXT, kind TEXT, layer INTEGER, dtype TEXT, pages INTEGER,
  page_size INTEGER, heads INTEGER, dim INTEGER,
  page_stride INTEGER, slot_stride INTEGER, head_stride INTEGER,  -- bytes
  sinks TEXT,                           -- JSON array of {"begin", "end"}
  PRIMARY KEY (case_id, cache)
) WITHOUT ROWID;
CREATE TABLE cache_buffers (
  case_id INTEGER, cache INTEGER, text TEXT,  -- name of the allocation that holds the cache
  PRIMARY KEY (case_id, cache)
) WITHOUT ROWID;
CREATE TABLE steps (
  case_id INTEGER, step_index INTEGER, step INTEGER, batch TEXT, tokens INTEGER, bucket INTEGER,
  covered INTEGER, uncovered_reason TEXT, input_digest INTEGER, replayed_nodes INTEGER,
  nonce_overwritten INTEGER,
  PRIMARY KEY (case_id, step_index)
) WITHOUT ROWID;
CREATE TABLE lanes (
  case_id INTEGER, step_index INTEGER, lane INTEGER,
  real INTEGER,                         -- 0: a pad lane
  sequence INTEGER, position INTEGER,
  slot INTEGER, index_slot INTEGER,     -- rows to write; negative: none
  PRIMARY KEY (case_id, step_index, lane)
) WITHOUT ROWID;
CREATE TABLE write_sets (
  case_id INTEGER, ordinal INTEGER, step INTEGER, cache INTEGER,
  expected TEXT, eager TEXT, padded_eager TEXT, graph TEXT,  -- JSON arrays of rows, sorted
  sink_writes INTEGER,
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE rows (
  case_id INTEGER, ordinal INTEGER, step INTEGER, cache INTEGER,
  row INTEGER,                          -- page * page_size + slot
  class TEXT,
  origin_kind TEXT, origin_row INTEGER, origin_step INTEGER, origin_lane INTEGER,
  origin_also TEXT,                     -- JSON array of further origins in words
  places TEXT,                          -- JSON array of words
  owner_sequence INTEGER, owner_position INTEGER, owner_layer INTEGER, owner_kind TEXT,  -- or NULL
  lane INTEGER, padded_eager_shows_it INTEGER,
  eager_digest TEXT, graph_digest TEXT, -- XXH3-64, 16 hexadecimal digits
  value_kind TEXT, value_ratio REAL, value_max_code_distance INTEGER, value_elements INTEGER,
  eager_bytes BLOB, graph_bytes BLOB,   -- logical order; empty beyond the limit
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE top_k (
  case_id INTEGER, ordinal INTEGER, step INTEGER, layer INTEGER, lane INTEGER, head INTEGER,
  carried INTEGER, kind TEXT,
  eager_ids TEXT, graph_ids TEXT, only_eager TEXT, only_graph TEXT,  -- JSON arrays of block ids
  eager_scores TEXT, graph_scores TEXT, -- JSON arrays, in the order only_eager, only_graph
  margin REAL, reproduced_from_graph_cache INTEGER,  -- or NULL
  padded_eager_shows_it INTEGER,
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE outputs (
  case_id INTEGER, ordinal INTEGER, step INTEGER, layer INTEGER, lane INTEGER, carried INTEGER,
  max_abs REAL, mean_rel REAL, max_code_distance INTEGER, non_finite INTEGER,
  reproduced_from_graph_cache INTEGER,  -- or NULL
  padded_eager_shows_it INTEGER,
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE chain (
  case_id INTEGER, ordinal INTEGER, stage TEXT, broken INTEGER,
  first INTEGER,                        -- 1: the first broken link
  step INTEGER, layer INTEGER, detail TEXT,
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE capture_changes (
  case_id INTEGER, ordinal INTEGER, cache INTEGER,
  rows TEXT,                            -- JSON array of rows
  overwritten_by_history INTEGER, note TEXT,
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
)sql";
constexpr char kGraphs[] = R"sql(
CREATE TABLE graphs (
  case_id INTEGER, graph INTEGER, bucket INTEGER, segment INTEGER, break_after TEXT,
  PRIMARY KEY (case_id, graph)
) WITHOUT ROWID;
CREATE TABLE nodes (
  case_id INTEGER, graph INTEGER, node INTEGER,
  id INTEGER,                           -- creation order; what edges and alignment name
  type TEXT, name TEXT, source TEXT,
  grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,
  block_x INTEGER, block_y INTEGER, block_z INTEGER, shared_bytes INTEGER,
  copy_destination INTEGER, copy_source INTEGER, copy_bytes INTEGER,  -- memcpy, or NULL
  fill_destination INTEGER, fill_bytes INTEGER, fill_value INTEGER,   -- memset, or NULL
  PRIMARY KEY (case_id, graph, node)
) WITHOUT ROWID;
CREATE TABLE node_arguments (
  case_id INTEGER, graph INTEGER, node INTEGER, ordinal INTEGER, byte_offset INTEGER, bytes BLOB,
  PRIMARY KEY (case_id, graph, node, ordinal)
) WITHOUT ROWID;
CREATE TABLE node_fields (
  case_id INTEGER, graph INTEGER, node INTEGER, ordinal INTEGER, name TEXT, byte_offset INTEGER,
  size INTEGER, is_pointer INTEGER, is_written INTEGER,
  PRIMARY KEY (case_id, graph, node, ordinal)
) WITHOUT ROWID;
CREATE TABLE node_addresses (
  case_id INTEGER, graph INTEGER, node INTEGER, ordinal INTEGER, field TEXT, byte_offset INTEGER,
  address INTEGER, owner TEXT, owner_name TEXT,
  block INTEGER,                        -- where the owner's range begins; 0: unknown
  captured_owner TEXT, captured_owner_name TEXT, captured_block INTEGER,  -- when capture ended
  PRIMARY KEY (case_id, graph, node, ordinal)
) WITHOUT ROWID;
CREATE TABLE edges (
  case_id INTEGER, graph INTEGER, ordinal INTEGER, from_node INTEGER, to_node INTEGER,
  PRIMARY KEY (case_id, graph, ordinal)
) WITHOUT ROWID;
)sql";
constexpr char kState[] = R"sql(
CREATE TABLE inputs (
  case_id INTEGER, ordinal INTEGER, name TEXT, captured_address INTEGER, replay_address INTEGER,
  contents_equal_eager INTEGER, is_activation INTEGER,
  contents_of_step INTEGER,             -- other step whose eager contents were found; -1: none
  submitted_differs INTEGER,
  pad_lanes INTEGER, pads_unset INTEGER, pads_from_earlier INTEGER,
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE opaque (
  case_id INTEGER, ordinal INTEGER, name TEXT, bytes INTEGER, differs_from_start INTEGER,
  differs_from_eager INTEGER,
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE other_graphs (
  case_id INTEGER, ordinal INTEGER, nodes INTEGER, same_structure INTEGER,
  kernels TEXT,                         -- JSON array of names in creation order
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE unordered_pairs (
  case_id INTEGER, ordinal INTEGER, segment INTEGER,
  first INTEGER, second INTEGER,        -- ids of nodes, in creation order
  buffer TEXT, declared INTEGER,
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE reference_differences (
  case_id INTEGER, ordinal INTEGER, step INTEGER, cache TEXT, layer INTEGER, lane INTEGER,
  row INTEGER,                          -- of a cache; -1: none
  value_kind TEXT, value_ratio REAL, value_max_code_distance INTEGER, value_elements INTEGER,
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
)sql";
constexpr char kFindings[] = R"sql(
CREATE TABLE findings (
  case_id INTEGER, finding INTEGER, mechanism TEXT, status TEXT, summary TEXT, first_step INTEGER,
  experiment TEXT, sham TEXT, not_runnable TEXT, fix TEXT,
  PRIMARY KEY (case_id, finding)
) WITHOUT ROWID;
CREATE TABLE finding_where (
  case_id INTEGER, finding INTEGER, ordinal INTEGER, cache TEXT, layer INTEGER,
  node INTEGER, kernel TEXT, source TEXT,  -- or NULL
  page_slots TEXT,                      -- JSON array of {"page", "slot"}
  PRIMARY KEY (case_id, finding, ordinal)
) WITHOUT ROWID;
CREATE TABLE evidence (
  case_id INTEGER, finding INTEGER, ordinal INTEGER, text TEXT,
  PRIMARY KEY (case_id, finding, ordinal)
) WITHOUT ROWID;
CREATE TABLE ruled_out (
  case_id INTEGER, ordinal INTEGER, mechanism TEXT, why TEXT, PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE experiments (
  case_id INTEGER, ordinal INTEGER, name TEXT, change TEXT, outcome TEXT, sham_outcome TEXT,
  repeats INTEGER, made_right INTEGER,
  not_runnable TEXT,                    -- reason, or empty when it ran
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE notes (
  case_id INTEGER, ordinal INTEGER, text TEXT, PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE not_covered (
  case_id INTEGER, ordinal INTEGER, text TEXT, PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;

CREATE VIEW differences AS
  SELECT r.case_id, r.step, c.layer, c.kind AS cache, r.row / c.page_size AS page,
         r.row % c.page_size AS slot, r.class, r.origin_kind AS origin, r.eager_digest,
         r.graph_digest
  FROM rows AS r JOIN caches AS c ON c.case_id = r.case_id AND c.cache = r.cache;
)sql";

/// Launches of one kind, with the tables of what was passed to each.
std::string launch_tables(const std::string& table, const std::string& child_prefix) {
  const std::string create = "CREATE TABLE " + child_prefix;
  std::string sql = "CREATE TABLE " + table + R"sql( (
  case_id INTEGER, launch INTEGER,
  id INTEGER,                           -- launch order within the step
  type TEXT, name TEXT, source TEXT,
  grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,
  block_x INTEGER, block_y INTEGER, block_z INTEGER, shared_bytes INTEGER,
  copy_destination INTEGER, copy_source INTEGER, copy_bytes INTEGER,
  fill_destination INTEGER, fill_bytes INTEGER, fill_value INTEGER,
  PRIMARY KEY (case_id, launch)
) WITHOUT ROWID;
)sql";
  sql += create + R"sql(arguments (
  case_id INTEGER, launch INTEGER, ordinal INTEGER, byte_offset INTEGER, bytes BLOB,
  PRIMARY KEY (case_id, launch, ordinal)
) WITHOUT ROWID;
)sql";
  sql += create + R"sql(fields (
  case_id INTEGER, launch INTEGER, ordinal INTEGER, name TEXT, byte_offset INTEGER, size INTEGER,
  is_pointer INTEGER, is_written INTEGER,
  PRIMARY KEY (case_id, launch, ordinal)
) WITHOUT ROWID;
)sql";
  sql += create + R"sql(addresses (
  case_id INTEGER, launch INTEGER, ordinal INTEGER, field TEXT, byte_offset INTEGER,
  address INTEGER, owner TEXT, owner_name TEXT, block INTEGER,
  captured_owner TEXT, captured_owner_name TEXT, captured_block INTEGER,
  PRIMARY KEY (case_id, launch, ordinal)
) WITHOUT ROWID;
)sql";
  return sql;
}

/// What pairs the nodes with one kind of launches.
std::string alignment_table(const std::string& table) {
  return "CREATE TABLE " + table + R"sql( (
  case_id INTEGER, ordinal INTEGER, kind TEXT, launch INTEGER, segment INTEGER, node INTEGER,
  name TEXT, source TEXT,
  differing_fields TEXT,                -- JSON array of names
  PRIMARY KEY (case_id, ordinal)
) WITHOUT ROWID;
)sql";
}

std::string make_schema() {
  return std::string{kRunAndRows} + kGraphs + launch_tables("launches", "launch_") +
         launch_tables("padded_launches", "padded_launch_") + launch_tables("escaped", "escaped_") +
         alignment_table("alignment") + alignment_table("padded_alignment") + kState + kFindings;
}

}  // namespace

const char* schema_sql() {
  static const std::string schema = make_schema();
  return schema.c_str();
}

}  // namespace graphsan::record
