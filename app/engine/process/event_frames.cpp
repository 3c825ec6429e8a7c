#include "app/engine/process/event_frames.h"

#include "engine/base/error.h"
#include "engine/messages/wire.h"

namespace winnow::app {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kMostGiven = std::size_t{1} << 20;  // that lie about before they are removed

}  // namespace

std::string frameOf(std::span<const std::uint8_t> bytes) {
  require(bytes.size() <= kMostWireBytes, "a frame is no longer than a message may be");
  std::string frame;
  frame.reserve(kLengthBytes + bytes.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) frame.push_back(static_cast<char>(bytes.size() >> (8 * i)));
  frame.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return frame;
}

void FrameReader::add(std::string_view bytes) {
  if (isBetweenFrames() || m_begin > kMostGiven) {
    m_bytes.erase(0, m_begin);
    m_begin = 0;
  }
  m_bytes += bytes;
}

std::optional<std::vector<std::uint8_t>> FrameReader::next() {
  if (m_bytes.size() - m_begin < kLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::size_t{static_cast<unsigned char>(m_bytes[m_begin + i])} << (8 * i);
  if (length > kMostWireBytes) throw Exception(ErrorCode::kLimitExceeded, "wire", "a message is longer than any may be");
  if (m_bytes.size() - m_begin - kLengthBytes < length) return std::nullopt;
  const char* const first = m_bytes.data() + m_begin + kLengthBytes;
  m_begin += kLengthBytes + length;
  return std::vector<std::uint8_t>(first, first + length);
}

}  // namespace winnow::app
