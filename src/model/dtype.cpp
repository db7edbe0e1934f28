#include "model/dtype.hpp"

#include "model/enum_words.hpp"

namespace graphsan::model {

std::size_t byte_size(DType dtype) {
  switch (dtype) {
    case DType::kFp8E4M3:
    case DType::kFp8E5M2:
    case DType::kU8:
      return 1;
    case DType::kBf16:
      return 2;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kI64:
      return 8;
  }
  throw_no_enumerator();
}

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::kBf16:
      return "bf16";
    case DType::kFp8E4M3:
      return "fp8_e4m3";
    case DType::kFp8E5M2:
      return "fp8_e5m2";
    case DType::kF32:
      return "f32";
    case DType::kI32:
      return "i32";
    case DType::kI64:
      return "i64";
    case DType::kU8:
      return "u8";
  }
  throw_no_enumerator();
}

std::optional<DType> parse_dtype(std::string_view word) { return parse_word(word, DType::kU8); }

}  // namespace graphsan::model
