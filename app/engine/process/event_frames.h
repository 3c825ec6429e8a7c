// Messages one behind the other in a stream of bytes that has no bounds of its own: each is its length and its bytes.
//
// Used where the engine's messages travel over HTTP (app/programs/server/wire_service.h, app/engine/remote). A length is four bytes, least
// significant first. An empty frame says that the sender is still there. Errors: Exception(kLimitExceeded) for a length beyond
// kMostWireBytes. Pure; threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

std::string frameOf(std::span<const std::uint8_t> bytes);

class FrameReader {
 public:
  void add(std::string_view bytes);
  // The next whole one.
  std::optional<std::vector<std::uint8_t>> next();
  bool isBetweenFrames() const { return m_bytes.size() == m_begin; }

 private:
  std::string m_bytes;
  std::size_t m_begin = 0;  // of what was not given yet
};

}  // namespace winnow::app
