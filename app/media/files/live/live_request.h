// A video that is still running: where it comes from and how often a frame is taken.
//
// Used by LiveSource and by whoever reads addresses from people. Each kind is an explicit choice; parseLiveAddress() makes it from what
// was typed and refuses everything else, so that no address reaches a part of FFmpeg that nobody chose. Seconds. Any thread.
#pragma once

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

}  // namespace winnow::app
