#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>
#include <stdexcept>

namespace graphsan::record {

/// An output path that cannot be used; `what()` says why and what to do. Bad usage, exit code 2.
class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A file that appears under its name complete or not at all.
///
/// The constructor only checks. The first stream() opens a temporary file in the target's folder;
/// commit() gives it the target's name; without that, the destructor removes it (in the process
/// that made it: a forked child leaves it alone). A target that is a device or a pipe, such as
/// `/dev/stdout`, is written in place.
class OutputFile {
 public:
  /// Throws UsageError unless the target's folder exists and is writable and the target is neither
  /// a folder nor a file that may not be written.
  explicit OutputFile(std::filesystem::path target);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Where to write; binary. Throws std::runtime_error if the temporary file cannot be opened.
  [[nodiscard]] std::ostream& stream();
  /// Flushes and renames; call once, last. Throws std::runtime_error when something could not be
  /// written, such as on a full disk; the target is then as it was.
  void commit();
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

 private:
  void probe_folder() const;

  std::filesystem::path target_;
  std::filesystem::path aside_;  ///< empty: written in place
  std::ofstream out_;
  int owner_ = 0;
  bool opened_ = false;
  bool committed_ = false;
};

}  // namespace graphsan::record
