#pragma once

#include <filesystem>

namespace graphsan::record {

/// Throws RecordingError, which says what the file is instead and what to do, unless `path` is a
/// recording of this schema version. Reads the header only and changes nothing.
void require_recording(const std::filesystem::path& path);

/// Throws RecordingError unless a recording may be written at `path`: nothing is there, or a
/// recording of any schema version is, and the folder exists.
void require_recordable(const std::filesystem::path& path);

}  // namespace graphsan::record
