// Caps for files that nobody vouches for, checked before anything is allocated or decoded.
//
// Used by every reader in app/media/files and by its tests, which lower some of them. Raising one is a decision about safety, not about
// taste: the numbers stand in the threat notes of the project. All sizes are bytes or pixels as named.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

namespace winnow::app {

struct MediaLimits {
  std::int64_t imageFileBytes = 256LL << 20;
  std::int64_t imageStoredPixels = 256'000'000;  // decoded, and
  std::int64_t imagePixels = 64'000'000;         // delivered; a larger one at half its sides
  int imageSidePx = 16'384;                      // delivered; a longer side is scaled down
  int imageSideRatio = 200;                      // longer side over shorter side

  std::int64_t videoFramePixels = 8192LL * 8192LL;
  int videoStreams = 32;
  std::int64_t probeBytes = 8'000'000;
  std::int64_t probeMs = 5'000;
  int plannedFrames = 1'024;
  // Threads that decode one file at once; all their pictures together stay below videoFramePixels.
  int decoders = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
  int liveIndexEntries = 20'000;  // that a demuxer of a running source may remember

  // Wall clock spent inside one call (open, probe, read).
  std::int64_t decodeBudgetMs = 120'000;
};

}  // namespace winnow::app
