#include "engine/text/byte_alphabet.h"

#include "engine/text/utf8.h"

namespace winnow {

ByteAlphabet::ByteAlphabet() {
  byte_.fill(-1);
  char32_t next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
    const char32_t c = printable ? static_cast<char32_t>(b) : next++;
    utf8::append(text_[static_cast<std::size_t>(b)], c);
    byte_[c] = b;
  }
}

const ByteAlphabet& ByteAlphabet::instance() {
  static const ByteAlphabet alphabet;
  return alphabet;
}

std::string ByteAlphabet::text_of(std::string_view bytes) const {
  std::string out;
  for (const char byte : bytes) out += text_[static_cast<unsigned char>(byte)];
  return out;
}

std::optional<std::string> ByteAlphabet::bytes_of(std::string_view text) const {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const utf8::Decoded next = utf8::decode(text, i);
    if (!next.valid || next.code_point >= byte_.size() || byte_[next.code_point] < 0) return std::nullopt;
    out.push_back(static_cast<char>(byte_[next.code_point]));
    i += next.bytes;
  }
  return out;
}

}  // namespace winnow
