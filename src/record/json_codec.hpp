#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace graphsan::record {

/// One value (a list, or a type of fields.hpp) as JSON text without spaces: enums as their words,
/// digests and bytes as hexadecimal text, non-finite numbers as `"nan"`, `"inf"`, `"-inf"`.
///
/// Instantiated in json_codec.cpp for the lists that a recording keeps in text columns.
template <typename Value>
[[nodiscard]] std::string encode_text(const Value& value);

/// The inverse. A member that is absent keeps its default; a member that the type does not have, a
/// wrong type and a number out of range throw RecordingError, which names it below `what`.
template <typename Value>
void decode_text(const std::string& text, std::string_view what, Value& value);

}  // namespace graphsan::record
