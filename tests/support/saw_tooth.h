// A file of sound for tests of what reads sound: no speech, and the same bytes every time.
#pragma once

#include <cstdint>
#include <string>

namespace winnow::test {

// A WAV file, 16-bit mono at 16 kHz: a saw tooth whose pitch changes every half second.
inline std::string sawTooth(std::uint32_t seconds) {
  std::string wav("RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3E\0\0\0\x7D\0\0\2\0\x10\0data", 40);
  const std::uint32_t bytes = 2 * 16'000 * seconds;
  for (int shift = 0; shift < 32; shift += 8) wav += static_cast<char>(bytes >> shift);
  for (std::uint32_t at = 0; at < bytes / 2; ++at) {
    const auto value = static_cast<std::int16_t>(static_cast<int>(at * (200 + at / 8'000 * 137) % 16'000) - 8'000);
    wav += static_cast<char>(value & 0xFF);
    wav += static_cast<char>(value >> 8);
  }
  return wav;
}

}  // namespace winnow::test
