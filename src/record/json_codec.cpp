#include "record/json_codec.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "record/fields.hpp"
#include "record/recording.hpp"
#include "record/words.hpp"

namespace graphsan::record {
namespace {

using Json = nlohmann::ordered_json;

template <typename>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

std::string hex(const std::vector<std::byte>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 0xF];
  }
  return text;
}

class JsonWriter {
 public:
  template <typename Value>
  void operator()(const char* name, Value& value) {
    object_[name] = encode(value);
  }
  template <typename Value>
  void flat(const char* name, Value& value) {
    (*this)(name, value);
  }
  template <typename Value>
  void table(const char* name, Value& value) {
    (*this)(name, value);
  }
  [[nodiscard]] Json take() { return std::move(object_); }

  template <typename Value>
  [[nodiscard]] static Json encode(const Value& value);

 private:
  Json object_ = Json::object();
};

template <typename Value>
Json JsonWriter::encode(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return std::string{to_string(value)};
  } else if constexpr (std::is_floating_point_v<Value>) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  } else if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<Value, model::Digest>) {
    return model::to_hex(value);
  } else if constexpr (std::is_same_v<Value, std::vector<std::byte>>) {
    return hex(value);
  } else if constexpr (IsOptional<Value>::value) {
    return value ? encode(*value) : Json{};
  } else if constexpr (IsVector<Value>::value) {
    Json array = Json::array();
    for (const auto& item : value) array.push_back(encode(item));
    return array;
  } else {
    JsonWriter writer;
    list_fields(writer, value);
    if constexpr (std::is_same_v<Value, model::RunReport>) {
      writer("environment", value.environment);
      writer("cases", value.cases);
    }
    return writer.take();
  }
}

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw RecordingError{path + ": " + problem};
}

class JsonReader {
 public:
  JsonReader(const Json& object, std::string path) : object_{object}, path_{std::move(path)} {
    if (!object_.is_object()) refuse(path_, "expected an object");
  }
  template <typename Value>
  void operator()(const char* name, Value& value) {
    known_.insert(name);
    const auto found = object_.find(name);
    if (found != object_.end()) decode(*found, path_ + "." + name, value);
  }
  template <typename Value>
  void flat(const char* name, Value& value) {
    (*this)(name, value);
  }
  template <typename Value>
  void table(const char* name, Value& value) {
    (*this)(name, value);
  }
  void refuse_unknown() const {
    for (const auto& [name, value] : object_.items()) {
      if (known_.count(name) == 0) refuse(path_ + "." + name, "no such field");
    }
  }

  template <typename Value>
  static void decode(const Json& json, const std::string& path, Value& value);

 private:
  const Json& object_;
  std::string path_;
  std::set<std::string> known_;
};

std::string text_of(const Json& json, const std::string& path) {
  if (!json.is_string()) refuse(path, "expected a string");
  return json.get<std::string>();
}

template <typename Integer>
Integer integer_of(const Json& json, const std::string& path) {
  if (!json.is_number_integer()) refuse(path, "expected a whole number");
  const bool fits = json.is_number_unsigned() ? std::in_range<Integer>(json.get<std::uint64_t>())
                                              : std::in_range<Integer>(json.get<std::int64_t>());
  if (!fits) refuse(path, "number out of range");
  return json.get<Integer>();
}

template <typename Float>
Float float_of(const Json& json, const std::string& path) {
  if (json.is_number()) return json.get<Float>();
  if (json == "nan") return std::numeric_limits<Float>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<Float>::infinity();
  if (json == "-inf") return -std::numeric_limits<Float>::infinity();
  refuse(path, "expected a number, \"nan\", \"inf\" or \"-inf\"");
}

std::uint64_t hex_value(std::string_view digits, const std::string& path) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value, 16);
  if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != end) {
    refuse(path, "expected hexadecimal digits");
  }
  return value;
}

std::vector<std::byte> bytes_of(const std::string& text, const std::string& path) {
  if (text.size() % 2 != 0) refuse(path, "expected two hexadecimal digits for each byte");
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t at = 0; at < text.size(); at += 2) {
    bytes.push_back(static_cast<std::byte>(hex_value(std::string_view{text}.substr(at, 2), path)));
  }
  return bytes;
}

template <typename Value>
void decode_list(const Json& json, const std::string& path, std::vector<Value>& values) {
  if (!json.is_array()) refuse(path, "expected an array");
  values.clear();
  values.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    JsonReader::decode(json[i], path + "[" + std::to_string(i) + "]", values.emplace_back());
  }
}

template <typename Value>
void decode_object(const Json& json, const std::string& path, Value& value) {
  JsonReader reader{json, path};
  fields(reader, value);
  if constexpr (std::is_same_v<Value, model::RunReport>) {
    reader("environment", value.environment);
    reader("cases", value.cases);
  }
  reader.refuse_unknown();
}

template <typename Value>
void JsonReader::decode(const Json& json, const std::string& path, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    const std::string word = text_of(json, path);
    const std::optional<Value> parsed = parse_enum<Value>(word);
    if (!parsed) refuse(path, "unknown word '" + word + "'");
    value = *parsed;
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (!json.is_boolean()) refuse(path, "expected true or false");
    value = json.get<bool>();
  } else if constexpr (std::is_floating_point_v<Value>) {
    value = float_of<Value>(json, path);
  } else if constexpr (std::is_integral_v<Value>) {
    value = integer_of<Value>(json, path);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = text_of(json, path);
  } else if constexpr (std::is_same_v<Value, model::Digest>) {
    value.value = hex_value(text_of(json, path), path);
  } else if constexpr (std::is_same_v<Value, std::vector<std::byte>>) {
    value = bytes_of(text_of(json, path), path);
  } else if constexpr (IsOptional<Value>::value) {
    value.reset();
    if (!json.is_null()) decode(json, path, value.emplace());
  } else if constexpr (IsVector<Value>::value) {
    decode_list(json, path, value);
  } else {
    decode_object(json, path, value);
  }
}

}  // namespace

template <typename Value>
std::string encode_text(const Value& value) {
  return JsonWriter::encode(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Value>
void decode_text(const std::string& text, std::string_view what, Value& value) {
  const Json json = Json::parse(text, nullptr, false);
  const std::string path{what};
  if (json.is_discarded()) refuse(path, "not JSON, or cut off");
  JsonReader::decode(json, path, value);
}

#define GRAPHSAN_TEXT_COLUMN(...)                             \
  template std::string encode_text(const __VA_ARGS__& value); \
  template void decode_text(const std::string& text, std::string_view what, __VA_ARGS__& value)

GRAPHSAN_TEXT_COLUMN(std::vector<int>);
GRAPHSAN_TEXT_COLUMN(std::vector<std::int64_t>);
GRAPHSAN_TEXT_COLUMN(std::vector<std::uint64_t>);
GRAPHSAN_TEXT_COLUMN(std::vector<float>);
GRAPHSAN_TEXT_COLUMN(std::vector<std::string>);
GRAPHSAN_TEXT_COLUMN(std::vector<model::RowRange>);
GRAPHSAN_TEXT_COLUMN(std::vector<model::Place>);
GRAPHSAN_TEXT_COLUMN(std::vector<model::PageSlot>);

#undef GRAPHSAN_TEXT_COLUMN

std::string to_json(const model::CaseReport& report) { return encode_text(report); }

model::CaseReport case_from_json(const std::string& text) {
  model::CaseReport report;
  decode_text(text, "case", report);
  return report;
}

std::string to_json(const model::Facts& facts) { return encode_text(facts); }

model::Facts facts_from_json(const std::string& text) {
  model::Facts facts;
  decode_text(text, "facts", facts);
  return facts;
}

std::string to_json(const model::RunReport& report) { return encode_text(report); }

model::RunReport run_from_json(const std::string& text) {
  model::RunReport report;
  decode_text(text, "run", report);
  return report;
}

}  // namespace graphsan::record
