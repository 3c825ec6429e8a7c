#include "app/media/files/live/stream_units.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>

#include "app/media/files/big_endian.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kHeaderBytes = 8;
constexpr std::uint64_t kMostFragmentHeaderBytes = 1 << 20;

std::string_view nameAt(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return {reinterpret_cast<const char*>(bytes.data()) + at, 4};
}

// Calls `visit` with the body of every box of this name that lies directly in `boxes`.
template <typename Visit>
void forEachBox(std::span<std::uint8_t> boxes, std::string_view name, Visit visit) {
  while (boxes.size() >= kHeaderBytes) {
    const std::uint64_t bytes = bigEndian(boxes.first(4));
    if (bytes < kHeaderBytes || bytes > boxes.size()) return;
    const auto box = boxes.first(static_cast<std::size_t>(bytes));
    if (std::memcmp(box.data() + 4, name.data(), 4) == 0) visit(box.subspan(kHeaderBytes));
    boxes = boxes.subspan(box.size());
  }
}

// Tracks of a fragment may say where in the file their frames lie.
void moveBases(std::span<std::uint8_t> fragment, std::uint64_t leftOut) {
  constexpr std::size_t kBaseAt = 8;  // after version, flags and the track's number
  forEachBox(fragment, "moof", [&](std::span<std::uint8_t> moof) {
    forEachBox(moof, "traf", [&](std::span<std::uint8_t> track) {
      forEachBox(track, "tfhd", [&](std::span<std::uint8_t> header) {
        if (header.size() < kBaseAt + 8 || (header[3] & 1) == 0) return;
        const std::uint64_t base = bigEndian(header.subspan(kBaseAt, 8)) - leftOut;
        for (std::size_t i = 0; i < 8; ++i) header[kBaseAt + i] = static_cast<std::uint8_t>(base >> (56 - 8 * i));
      });
    });
  });
}

}  // namespace

StreamUnits::StreamUnits(ContentType type, std::vector<std::uint8_t> head, LiveBytes& bytes)
    : m_type(type), m_head(std::move(head)), m_bytes(bytes) {
  if (type != ContentType::kMov && type != ContentType::kAvi) {
    m_recording = false;
    m_unitBytes = kToTheEnd;
  }
}

int StreamUnits::pull(std::span<std::uint8_t> into) noexcept {
  const std::size_t waiting = m_head.size() - m_headUsed;
  if (waiting == 0) {
    const int got = m_bytes.read(into);
    m_taken += static_cast<std::uint64_t>(std::max(got, 0));
    return got;
  }
  const std::size_t given = std::min(waiting, into.size());
  std::memcpy(into.data(), m_head.data() + m_headUsed, given);
  m_headUsed += given;
  m_taken += given;
  return static_cast<int>(given);
}

int StreamUnits::read(std::span<std::uint8_t> into, bool cutWanted) noexcept {
  if (m_cut || into.empty()) return 0;
  try {
    if (m_pendingUsed == m_pending.size() && m_unitBytes == 0) readUnit();
    if (m_startsUnit && cutWanted && !m_recording && !m_beginning.empty()) {
      m_cut = true;
      return 0;
    }
    m_startsUnit = false;
    const int given = give(into);
    if (!m_recording) return given;
    m_beginning.insert(m_beginning.end(), into.begin(), into.begin() + given);
    if (m_beginningEnds && m_pendingUsed == m_pending.size() && m_unitBytes == 0) m_recording = false;
    if (m_beginning.size() > kMostBeginningBytes) {
      m_recording = false;
      m_beginning = {};
    }
    return given;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

int StreamUnits::give(std::span<std::uint8_t> into) noexcept {
  const std::size_t waiting = m_pending.size() - m_pendingUsed;
  if (waiting > 0) {
    const std::size_t given = std::min(waiting, into.size());
    std::memcpy(into.data(), m_pending.data() + m_pendingUsed, given);
    m_pendingUsed += given;
    return static_cast<int>(given);
  }
  if (m_unitBytes < into.size()) into = into.first(static_cast<std::size_t>(m_unitBytes));
  if (into.empty()) return 0;
  const int got = pull(into);
  if (m_unitBytes != kToTheEnd) m_unitBytes -= static_cast<std::uint64_t>(std::max(got, 0));
  return got;
}

bool StreamUnits::fill(std::size_t bytes) {
  while (m_pending.size() < bytes) {
    const std::size_t have = m_pending.size();
    m_pending.resize(bytes);
    const int got = pull(std::span(m_pending).subspan(have));
    m_pending.resize(have + static_cast<std::size_t>(std::max(got, 0)));
    if (got <= 0) return false;
  }
  return true;
}

void StreamUnits::readUnit() {
  m_pending.clear();
  m_pendingUsed = 0;
  m_unitStart = m_taken;
  if (!fill(kHeaderBytes)) return;
  if (m_type == ContentType::kMov) {
    measureBox();
  } else {
    measureChunk();
  }
}

void StreamUnits::measureBox() {
  std::uint64_t bytes = bigEndian(std::span(m_pending).first(4));
  m_beginningEnds = nameAt(m_pending, 4) == "moov";
  if (bytes == 1) {
    if (!fill(2 * kHeaderBytes)) return;
    bytes = bigEndian(std::span(m_pending).subspan(kHeaderBytes, 8));
  }
  if (nameAt(m_pending, 4) == "moof") {
    readFragmentHeader(bytes);
    return;
  }
  // A size of nothing means to the end; one that is impossible is the demuxer's to judge.
  m_unitBytes = bytes >= m_pending.size() ? bytes - m_pending.size() : kToTheEnd;
}

void StreamUnits::readFragmentHeader(std::uint64_t bytes) {
  m_unitBytes = bytes >= m_pending.size() ? bytes - m_pending.size() : kToTheEnd;
  if (m_pending.size() != kHeaderBytes || m_unitBytes > kMostFragmentHeaderBytes) return;
  m_startsUnit = true;
  if (fill(kHeaderBytes + static_cast<std::size_t>(m_unitBytes))) moveBases(m_pending, m_leftOut);
  m_unitBytes = 0;
}

void StreamUnits::measureChunk() {
  const std::string_view name = nameAt(m_pending, 0);
  const bool list = name == "RIFF" || name == "LIST";
  m_startsUnit = std::isdigit(m_pending[0]) != 0 && std::isdigit(m_pending[1]) != 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < 4; ++i) bytes |= static_cast<std::uint64_t>(m_pending[4 + i]) << (8 * i);
  m_unitBytes = bytes + bytes % 2;
  if (!list || !fill(kHeaderBytes + 4)) return;
  // Lists of chunks are gone into; their sizes are only known when the recording has ended.
  const std::string_view kind = nameAt(m_pending, kHeaderBytes);
  m_beginningEnds = kind == "movi";
  const bool entered = nameAt(m_pending, 0) == "RIFF" || kind == "movi" || kind == "rec ";
  m_unitBytes = entered || m_unitBytes < 4 ? 0 : m_unitBytes - 4;
}

void StreamUnits::beginAgain() {
  const std::uint64_t leftOut = m_unitStart - m_beginning.size();
  if (m_type == ContentType::kMov) moveBases(m_pending, leftOut - m_leftOut);
  m_leftOut = leftOut;
  std::vector<std::uint8_t> again = m_beginning;
  again.insert(again.end(), m_pending.begin() + static_cast<std::ptrdiff_t>(m_pendingUsed), m_pending.end());
  m_pending = std::move(again);
  m_pendingUsed = 0;
  m_startsUnit = false;
  m_cut = false;
}

bool requireStreamable(std::span<const std::uint8_t> head, ContentType type, const std::string& address) {
  if (type != ContentType::kMov) return true;
  while (head.size() >= 16) {
    std::uint64_t bytes = bigEndian(head.first(4));
    const std::string_view box(reinterpret_cast<const char*>(head.data()) + 4, 4);
    if (box == "moov") return true;
    if (box == "mdat") {
      throw Exception(ErrorCode::kUnsupportedFormat, address,
                      "this MP4 gets its index at its end and cannot be read before that; record TS, MKV or fragmented MP4");
    }
    if (bytes == 1) bytes = bigEndian(head.subspan(8, 8));
    if (bytes < 8 || bytes >= head.size()) return false;
    head = head.subspan(static_cast<std::size_t>(bytes));
  }
  return false;
}

}  // namespace winnow::app
