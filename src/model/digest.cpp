#include "model/digest.hpp"

namespace graphsan::model {

std::string to_hex(Digest digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 0; i < 16; ++i) text[15 - i] = kDigits[(digest.value >> (4 * i)) & 0xF];
  return text;
}

}  // namespace graphsan::model
