// Hands a stream on in the units that its container is made of, so that a demuxer can be replaced by a new one between two of them.
//
// Used by LiveContainer. FFmpeg's demuxers of MP4 and AVI remember every frame that passed; a new one that is given the beginning again
// and then the stream from where the last one stopped remembers nothing. MP4: top-level boxes, the beginning ends with "moov", units begin
// with "moof"; AVI: the beginning ends with the "movi" list, units are chunks. Other containers are handed on as they come. The beginning
// is kept, up to kMostBeginningBytes, and places in the file that a fragment names are moved by what is left out. No errors. Threads: the
// reading thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/media/files/content_type.h"
#include "app/media/files/live/live_bytes.h"

namespace winnow::app {

class StreamUnits {
 public:
  static constexpr std::size_t kMostBeginningBytes = std::size_t{16} << 20;

  // head: what was already read of `bytes`, which is borrowed.
  StreamUnits(ContentType type, std::vector<std::uint8_t> head, LiveBytes& bytes);

  // Bytes copied; 0 at the end, and where a unit begins if a cut is wanted: wasCut() tells.
  int read(std::span<std::uint8_t> into, bool cutWanted) noexcept;
  bool wasCut() const { return m_cut; }
  // After a cut: the beginning again, then what follows the cut.
  void beginAgain();

 private:
  int pull(std::span<std::uint8_t> into) noexcept;
  int give(std::span<std::uint8_t> into) noexcept;
  void readUnit();
  bool fill(std::size_t bytes);
  void measureBox();
  void readFragmentHeader(std::uint64_t bytes);
  void measureChunk();

  const ContentType m_type;
  const std::vector<std::uint8_t> m_head;
  LiveBytes& m_bytes;
  std::size_t m_headUsed = 0;
  std::vector<std::uint8_t> m_pending;  // to be given before anything else: a unit's header, the beginning
  std::size_t m_pendingUsed = 0;
  std::vector<std::uint8_t> m_beginning;
  bool m_recording = true;        // what is given is part of the beginning
  bool m_beginningEnds = false;   // with the unit that is being given
  bool m_startsUnit = false;      // m_pending is the header of a unit before which can be cut
  std::uint64_t m_unitBytes = 0;  // of the unit that is being given, still to come after m_pending
  bool m_cut = false;
  std::uint64_t m_taken = 0;      // bytes of the stream so far
  std::uint64_t m_unitStart = 0;  // where in the stream the unit begins
  std::uint64_t m_leftOut = 0;    // bytes of the stream that the present demuxer was not given
};

// Tells from a video's beginning if it can be read while it runs.
//
// MP4: its index must come before its pictures; that of a plain recording is written at the end. Errors: kUnsupportedFormat. Pure.

// head: the first bytes; address names the source in the error. Whether they are enough to tell; then it can be.
bool requireStreamable(std::span<const std::uint8_t> head, ContentType type, const std::string& address);

}  // namespace winnow::app
