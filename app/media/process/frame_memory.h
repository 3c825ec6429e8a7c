// The memory that pixels go back in: a file without a name that both processes have. The program reads it and never maps it.
//
// It has two areas that take turns, so that the next frames are written while the program copies out the last ones. Its pages are used
// again, and given back when the last source is closed. Errors: Exception; kOutOfMemory, kLimitExceeded (ulimit -f). Threads: one at a
// time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/ground/process/open_file.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

class FrameMemory {
 public:
  explicit FrameMemory(OpenFile file) : m_file(std::move(file)) {}

  static constexpr std::int64_t kAreaBytes = std::int64_t{64} << 20;

  // Returns where they lie. Frames that do not fit into one area are written over both.
  std::int64_t write(const std::vector<SampledFrame>& frames, const std::string& subject);
  void giveBack();

 private:
  OpenFile m_file;
  std::int64_t m_last = kAreaBytes;  // the area that was written last
};

}  // namespace winnow::app
