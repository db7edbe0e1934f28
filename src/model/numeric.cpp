#include "model/numeric.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "model/enum_words.hpp"

namespace graphsan::model {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

float decode_one(DType dtype, std::span<const std::byte> element) {
  switch (dtype) {
    case DType::kBf16:
      return bf16_to_float(load<std::uint16_t>(element));
    case DType::kFp8E4M3:
      return e4m3_to_float(load<std::uint8_t>(element));
    case DType::kFp8E5M2:
      return e5m2_to_float(load<std::uint8_t>(element));
    case DType::kF32:
      return load<float>(element);
    case DType::kI32:
      return static_cast<float>(load<std::int32_t>(element));
    case DType::kI64:
      return static_cast<float>(load<std::int64_t>(element));
    case DType::kU8:
      return static_cast<float>(load<std::uint8_t>(element));
  }
  throw_no_enumerator();
}

/// |a - b|, at most INT64_MAX.
std::int64_t integer_distance(std::int64_t a, std::int64_t b) {
  const std::uint64_t distance =
      a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
            : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return distance > static_cast<std::uint64_t>(kMost) ? kMost : static_cast<std::int64_t>(distance);
}

/// Distance of two sign-magnitude codes of `Bits`; magnitudes above `infinity` are NaN.
template <typename Bits>
std::int64_t float_distance(Bits a, Bits b, Bits infinity) {
  if (a == b) return 0;
  constexpr int kSign = 8 * sizeof(Bits) - 1;
  const auto magnitude = [](Bits bits) {
    return static_cast<std::int64_t>(bits & ((Bits{1} << kSign) - 1));
  };
  const auto signed_code = [&](Bits bits) {
    return (bits >> kSign) != 0 ? -magnitude(bits) : magnitude(bits);
  };
  if (magnitude(a) > infinity || magnitude(b) > infinity) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return integer_distance(signed_code(a), signed_code(b));
}

}  // namespace

float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float e4m3_to_float(std::uint8_t code) {
  const int exponent = (code >> 3) & 0xF;
  const int mantissa = code & 0x7;
  const float sign = (code & 0x80) != 0 ? -1.0F : 1.0F;
  if ((code & 0x7F) == 0x7F) return sign * std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -9);
  return sign * std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
}

float e5m2_to_float(std::uint8_t code) {
  const int exponent = (code >> 2) & 0x1F;
  const int mantissa = code & 0x3;
  const float sign = (code & 0x80) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1F) {
    return sign * (mantissa == 0 ? std::numeric_limits<float>::infinity()
                                 : std::numeric_limits<float>::quiet_NaN());
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -16);
  return sign * std::ldexp(static_cast<float>(4 + mantissa), exponent - 17);
}

std::vector<float> decode(DType dtype, std::span<const std::byte> bytes) {
  const std::size_t size = byte_size(dtype);
  if (bytes.size() % size != 0) {
    throw std::invalid_argument{"decode: the bytes are not a whole number of elements"};
  }
  std::vector<float> values;
  values.reserve(bytes.size() / size);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    values.push_back(decode_one(dtype, bytes.subspan(at, size)));
  }
  return values;
}

std::int64_t code_distance(DType dtype, std::span<const std::byte> a,
                           std::span<const std::byte> b) {
  if (a.size() != byte_size(dtype) || b.size() != byte_size(dtype)) {
    throw std::invalid_argument{"code_distance: each side must be one element"};
  }
  switch (dtype) {
    case DType::kBf16:
      return float_distance<std::uint16_t>(load<std::uint16_t>(a), load<std::uint16_t>(b), 0x7F80);
    case DType::kFp8E4M3:
      return float_distance<std::uint8_t>(load<std::uint8_t>(a), load<std::uint8_t>(b), 0x7E);
    case DType::kFp8E5M2:
      return float_distance<std::uint8_t>(load<std::uint8_t>(a), load<std::uint8_t>(b), 0x7C);
    case DType::kF32:
      return float_distance<std::uint32_t>(load<std::uint32_t>(a), load<std::uint32_t>(b),
                                           0x7F800000);
    case DType::kI32:
      return integer_distance(load<std::int32_t>(a), load<std::int32_t>(b));
    case DType::kI64:
      return integer_distance(load<std::int64_t>(a), load<std::int64_t>(b));
    case DType::kU8:
      return integer_distance(load<std::uint8_t>(a), load<std::uint8_t>(b));
  }
  throw_no_enumerator();
}

}  // namespace graphsan::model
