#include "app/media/process/frame_memory.h"

#include <unistd.h>

#include <cerrno>

#include "engine/base/error.h"

namespace winnow::app {

std::int64_t FrameMemory::write(const std::vector<SampledFrame>& frames, const std::string& subject) {
  std::int64_t bytes = 0;
  for (const SampledFrame& frame : frames) bytes += static_cast<std::int64_t>(frame.image.rgb.size());
  m_last = bytes > kAreaBytes || m_last > 0 ? 0 : kAreaBytes;
  std::int64_t offset = m_last;
  for (const SampledFrame& frame : frames) {
    const std::vector<std::uint8_t>& rgb = frame.image.rgb;
    for (std::size_t done = 0; done < rgb.size();) {
      const ssize_t written = ::pwrite(m_file.descriptor(), rgb.data() + done, rgb.size() - done, offset);
      if (written < 0 && errno == EINTR) continue;
      // Memory without a name counts as a file to the kernel.
      if (written < 0 && errno == EFBIG)
        throw Exception(ErrorCode::kLimitExceeded, subject, "its frames are larger than files may be (ulimit -f)");
      if (written <= 0) throw Exception(ErrorCode::kOutOfMemory, subject, "there is not enough memory for its frames");
      done += static_cast<std::size_t>(written);
      offset += written;
    }
  }
  return m_last;
}

void FrameMemory::giveBack() { [[maybe_unused]] const int done = ::ftruncate(m_file.descriptor(), 0); }

}  // namespace winnow::app
