// One number for many pixels: golden files keep it in their place.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace winnow::test {

// FNV-1a 64 of pixels that are whole numbers, fp32, in their tensor's order; 16 hexadecimal digits.
inline std::string pixel_hash(const at::Tensor& pixels) {
  const at::Tensor flat = pixels.contiguous();
  const float* values = flat.const_data_ptr<float>();
  std::uint64_t hash = 0xCBF29CE484222325;
  for (std::int64_t i = 0; i < flat.numel(); ++i) hash = (hash ^ static_cast<std::uint8_t>(values[i])) * 0x100000001B3;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace winnow::test
