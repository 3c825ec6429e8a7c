// A video that is still running: where it comes from and how often a frame is taken.
//
// Used by LiveSource and by whoever reads addresses from people. Each kind is an explicit choice; parseLiveAddress() makes it from what
// was typed and refuses everything else, so that no address reaches a part of FFmpeg that nobody chose. Seconds. Any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace winnow::app {

enum class LiveKind : int {
  kGrowingFile = 1,  // a recording in progress: TS, MKV, WebM, fragmented MP4, AVI
  kPipe,             // "-" (standard input) or the path of a named pipe
  kNetwork,          // tcp://, udp://, http://, https:// (where FFmpeg was built with it)
  kCamera,           // /dev/videoN
  kScreen,           // "screen:" (the screen of $DISPLAY) or "screen::0", "screen::0.1"
};

struct LiveRequest {
  LiveKind kind = LiveKind::kGrowingFile;
  std::string address;
  double everyS = 1.0;  // between two frames; at least kLeastEveryS
  double stallS = 5.0;  // the source counts as ended when nothing came for this long
};

inline constexpr double kLeastEveryS = 0.02;
inline constexpr double kLongestS = 86'400.0;

// The meaning of `address`. Opens nothing; looks at the file system for paths only. Names of paths are taken literally; a file whose name
// looks like an address is reached with "./" before it. Errors: kInvalidArgument (empty, incomplete), kUnsupportedFormat (an address that
// is not read), kFileNotFound, kFileUnreadable (a folder, a socket, another device).
LiveKind parseLiveAddress(const std::string& address);

// Throws kInvalidArgument for times that nothing could satisfy and the errors of parseLiveAddress() for an address that is not of its
// kind's form.
void requireLegal(const LiveRequest& request);

// Which frames of a running video are taken: frame i is the one on screen at i * everyS seconds.
//
// Pure.
class SamplingGrid {
 public:
  explicit SamplingGrid(double everyS) : m_everyS(everyS) {}

  double nextS() const { return static_cast<double>(m_next) * m_everyS; }
  // True if a frame that is on screen until endS, where the one after it begins, is the one of the next time. A microsecond is allowed for
  // times that were rounded.
  bool isDueBefore(double endS) const { return nextS() < endS - 1e-6; }
  void advance() { ++m_next; }
  // The first frame begins at startS: it stands for no time of the grid before that but the last.
  void skipTo(double startS) { m_next = std::max(m_next, static_cast<std::int64_t>(std::floor(startS / m_everyS + 1e-6))); }

 private:
  const double m_everyS;
  std::int64_t m_next = 0;
};

}  // namespace winnow::app
