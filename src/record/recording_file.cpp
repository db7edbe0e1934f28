#include "record/recording_file.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "record/recording.hpp"
#include "record/schema.hpp"

namespace graphsan::record {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

/// What the first bytes of a file say that it is.
enum class FileKind { kForeign, kTruncated, kForeignDatabase, kRecording };

struct FileHeader {
  FileKind kind = FileKind::kForeign;
  std::uint32_t schema_version = 0;
};

std::uint32_t big_endian(const std::array<char, kHeaderBytes>& header, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<std::uint8_t>(header[at + i]);
  }
  return value;
}

/// Offsets of user_version (60) and application_id (68): https://sqlite.org/fileformat2.html 1.3.
FileHeader inspect(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in) {
    throw RecordingError{"cannot open " + path.string() + "; check its permissions"};
  }
  std::array<char, kHeaderBytes> header{};
  in.read(header.data(), header.size());
  const auto size = static_cast<std::size_t>(in.gcount());
  if (std::string_view{header.data(), std::min(size, kSqliteMagic.size())} != kSqliteMagic)
    return {};
  if (size < kHeaderBytes) return {FileKind::kTruncated, 0};
  if (big_endian(header, 68) != kApplicationId) return {FileKind::kForeignDatabase, 0};
  return {FileKind::kRecording, big_endian(header, 60)};
}

constexpr const char* kHowToRecord = "make one with `graphsan check --record FILE.graphsan`";

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& problem,
                         const std::string& remedy) {
  throw RecordingError{path.string() + " " + problem + "; " + remedy};
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
}

}  // namespace

void require_recording(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    refuse(path, "does not exist", std::string{"check the name, or "} + kHowToRecord);
  }
  if (std::filesystem::is_directory(status)) {
    refuse(path, "is a folder, not a recording", "name the .graphsan file in it");
  }
  if (!std::filesystem::is_regular_file(status)) {
    refuse(path, "is not a recording", kHowToRecord);
  }
  const FileHeader header = inspect(path);
  switch (header.kind) {
    case FileKind::kForeign:
      refuse(path, "is not a recording", kHowToRecord);
    case FileKind::kTruncated:
      refuse(path, "is a truncated recording", "record the run again");
    case FileKind::kForeignDatabase:
      refuse(path, "is an SQLite database but not a recording", kHowToRecord);
    case FileKind::kRecording:
      break;
  }
  if (header.schema_version != kSchemaVersion) {
    refuse(path,
           "has recording schema " + std::to_string(header.schema_version) +
               ", this graphsan reads schema " + std::to_string(kSchemaVersion),
           "read it with the version that wrote it, or record the run again");
  }
}

void require_recordable(const std::filesystem::path& path) {
  if (path.filename().empty()) {
    refuse(path, "is not the name of a file", "name a file, such as run.graphsan");
  }
  std::error_code error;
  if (!std::filesystem::is_directory(folder_of(path), error)) {
    refuse(path, "cannot be written: there is no folder " + folder_of(path).string(),
           "create it, or choose another place");
  }
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return;
  if (std::filesystem::is_directory(status)) {
    refuse(path, "is a folder", "name a file in it, such as run.graphsan");
  }
  if (!std::filesystem::is_regular_file(status) || inspect(path).kind != FileKind::kRecording) {
    refuse(path, "exists and is not a recording, so it is not overwritten",
           "choose another name, or remove it first");
  }
}

}  // namespace graphsan::record
