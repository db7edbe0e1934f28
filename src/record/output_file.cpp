#include "record/output_file.hpp"

#include <unistd.h>

#include <string>
#include <utility>

namespace graphsan::record {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& target, const std::string& problem,
                         const std::string& remedy) {
  throw UsageError{"cannot write " + target.string() + ": " + problem + "; " + remedy};
}

std::filesystem::path folder_of(const std::filesystem::path& target) {
  return target.has_parent_path() ? target.parent_path() : std::filesystem::path{"."};
}

/// A hidden name in the target's folder that no other running process uses.
std::filesystem::path aside_of(const std::filesystem::path& target) {
  std::filesystem::path aside = target;
  aside.replace_filename("." + target.filename().string() + "." + std::to_string(::getpid()) +
                         ".part");
  return aside;
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path target)
    : target_{std::move(target)}, owner_{::getpid()} {
  std::error_code error;
  const auto status = std::filesystem::status(target_, error);
  if (target_.filename().empty() || std::filesystem::is_directory(status)) {
    refuse(target_, "it names a folder", "name a file in it");
  }
  if (!std::filesystem::is_directory(folder_of(target_), error)) {
    refuse(target_, "there is no folder " + folder_of(target_).string(),
           "create it, or choose another place");
  }
  if (std::filesystem::exists(status)) {
    if (::access(target_.c_str(), W_OK) != 0) {
      refuse(target_, "the file is not writable", "change its permissions, or choose another name");
    }
    if (!std::filesystem::is_regular_file(status)) return;
    target_ = std::filesystem::canonical(target_);
  }
  aside_ = aside_of(target_);
  probe_folder();
}

void OutputFile::probe_folder() const {
  const bool writable = std::ofstream{aside_}.is_open();
  std::error_code ignored;
  std::filesystem::remove(aside_, ignored);
  if (!writable) {
    refuse(target_, "the folder " + folder_of(target_).string() + " is not writable",
           "change its permissions, or choose another place");
  }
}

OutputFile::~OutputFile() {
  if (!opened_ || committed_ || aside_.empty() || owner_ != ::getpid()) return;
  out_.close();
  std::error_code ignored;
  std::filesystem::remove(aside_, ignored);
}

std::ostream& OutputFile::stream() {
  if (!opened_) {
    out_.open(aside_.empty() ? target_ : aside_, std::ios::binary);
    if (!out_) throw std::runtime_error{"cannot open " + target_.string() + " for writing"};
    opened_ = true;
  }
  return out_;
}

void OutputFile::commit() {
  stream().flush();
  out_.close();
  if (!out_) {
    throw std::runtime_error{"cannot write " + target_.string() + ": is the disk full?"};
  }
  if (!aside_.empty()) std::filesystem::rename(aside_, target_);
  committed_ = true;
}

}  // namespace graphsan::record
