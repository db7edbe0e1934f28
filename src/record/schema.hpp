#pragma once

#include <cstdint>

namespace graphsan::record {

/// `PRAGMA application_id` of a recording: "GSan". Any other SQLite file is refused.
inline constexpr std::uint32_t kApplicationId = 0x4753616E;

/// `PRAGMA user_version` of a recording. Add one when a table or column changes.
inline constexpr std::uint32_t kSchemaVersion = 3;

/// The statements that create the tables; docs/recording.md describes them.
[[nodiscard]] const char* schema_sql();

}  // namespace graphsan::record
