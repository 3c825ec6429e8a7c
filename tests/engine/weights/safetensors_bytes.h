// Hand-made safetensors files: a length, a header as it is given, and data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow::test {

inline std::string safetensors_with_length(std::uint64_t length, std::string_view header, std::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>((length >> (8 * i)) & 0xFF));
  return bytes.append(header).append(data);
}

inline std::string safetensors(std::string_view header, std::string_view data) {
  return safetensors_with_length(header.size(), header, data);
}

}  // namespace winnow::test
