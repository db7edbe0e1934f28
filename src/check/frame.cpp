#include "check/frame.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

namespace graphsan::check {

namespace {

struct Header {
  std::uint32_t type;
  std::uint32_t bytes;
};

/// The members in the order in which they are sent.
template <typename Environment>
auto fields_of(Environment& e) {
  return std::array{&e.device,       &e.device_name,        &e.driver,
                    &e.cuda_runtime, &e.compute_capability, &e.conversion,
                    &e.tracing,      &e.operating_system};
}

bool write_all(int descriptor, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int descriptor, char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::read(descriptor, data, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

void append_number(std::string& bytes, std::size_t number) {
  const auto value = static_cast<std::uint32_t>(number);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void append_text(std::string& bytes, const std::string& text) {
  append_number(bytes, text.size());
  bytes += text;
}

bool read_number(int descriptor, std::uint32_t& number) {
  return read_all(descriptor, reinterpret_cast<char*>(&number), sizeof(number));
}

bool read_text(int descriptor, std::string& text) {
  std::uint32_t size = 0;
  if (!read_number(descriptor, size)) return false;
  text.resize(size);
  return read_all(descriptor, text.data(), text.size());
}

}  // namespace

bool write_command(int descriptor, const Command& command) {
  std::string bytes;
  append_number(bytes, static_cast<std::size_t>(command.case_index));
  append_number(bytes, command.left_out.size());
  for (const auto& [experiment, why] : command.left_out) {
    append_text(bytes, experiment);
    append_text(bytes, why);
  }
  return write_all(descriptor, bytes.data(), bytes.size());
}

std::optional<Command> read_command(int descriptor) {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  if (!read_number(descriptor, index) || !read_number(descriptor, count)) return std::nullopt;
  Command command{static_cast<int>(index), {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string experiment;
    std::string why;
    if (!read_text(descriptor, experiment) || !read_text(descriptor, why)) return std::nullopt;
    command.left_out.emplace(std::move(experiment), std::move(why));
  }
  return command;
}

bool write_frame(int descriptor, FrameType type, std::string_view payload) {
  const Header header{static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(payload.size())};
  std::string bytes(sizeof(header), '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  bytes += payload;
  return write_all(descriptor, bytes.data(), bytes.size());
}

bool FrameReader::fill() {
  std::array<char, 65536> chunk;
  const ssize_t got = ::read(descriptor_, chunk.data(), chunk.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  return true;
}

std::optional<Frame> FrameReader::next() {
  Header header;
  if (buffer_.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, buffer_.data(), sizeof(header));
  if (buffer_.size() < sizeof(header) + header.bytes) return std::nullopt;
  Frame frame{static_cast<FrameType>(header.type), buffer_.substr(sizeof(header), header.bytes)};
  buffer_.erase(0, sizeof(header) + header.bytes);
  return frame;
}

std::string encode_environment(const model::Environment& environment) {
  std::string text;
  for (const std::string* field : fields_of(environment)) text += *field + '\n';
  return text;
}

model::Environment decode_environment(const std::string& text) {
  model::Environment environment;
  std::istringstream in{text};
  for (std::string* field : fields_of(environment)) std::getline(in, *field);
  return environment;
}

}  // namespace graphsan::check
