// The memory that pixels go back in: a file without a name that both processes have. The program reads it and never maps it.
//
// Its pages are used again for the next frames, and given back when the last source is closed. Errors: Exception; kOutOfMemory,
// kLimitExceeded (ulimit -f). Threads: one at a time.
#pragma once

#include <vector>

#include "app/process/open_file.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

class FrameMemory {
 public:
  explicit FrameMemory(OpenFile file) : m_file(std::move(file)) {}

  void write(const std::vector<SampledFrame>& frames, const std::string& subject);
  void giveBack();

 private:
  OpenFile m_file;
};

}  // namespace winnow::app
