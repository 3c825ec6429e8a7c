#include "app/media/files/live/descriptor_bytes.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr int kPollMs = 20;

}  // namespace

DescriptorBytes::DescriptorBytes(const std::string& address, AtEnd atEnd, StallGuard& watch) : m_watch(watch), m_atEnd(atEnd) {
  if (address == "-") {
    m_descriptor = STDIN_FILENO;
    m_owned = false;
    if (::isatty(m_descriptor) != 0) {
      throw Exception(ErrorCode::kInvalidArgument, address, "standard input is a terminal; a video is read from a pipe");
    }
  } else {
    m_descriptor = ::open(address.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  }
  struct stat status {};
  if (m_descriptor < 0 || ::fstat(m_descriptor, &status) != 0) {
    const int code = errno;
    throw Exception(code == ENOENT ? ErrorCode::kFileNotFound : ErrorCode::kFileUnreadable, address,
                    code == ENOENT ? "the file does not exist" : std::string("it cannot be read (") + std::strerror(code) + ")");
  }
  // Looked at through the descriptor: the name may by now mean something else.
  const bool fits = atEnd == AtEnd::kWait ? S_ISREG(status.st_mode) : S_ISFIFO(status.st_mode) || !m_owned;
  if (!fits) {
    if (m_owned) ::close(m_descriptor);
    throw Exception(ErrorCode::kFileUnreadable, address, "this is no longer what it was when its name was read");
  }
}

DescriptorBytes::~DescriptorBytes() {
  if (m_owned) ::close(m_descriptor);
}

void DescriptorBytes::waitForMore() const noexcept {
  if (m_atEnd == AtEnd::kWait) {
    ::poll(nullptr, 0, kPollMs);  // a file is always ready, also at its end
    return;
  }
  pollfd wanted{m_descriptor, POLLIN, 0};
  ::poll(&wanted, 1, kPollMs);
}

int DescriptorBytes::read(std::span<std::uint8_t> into) noexcept {
  if (m_end != LiveEnd::kNotYet || into.empty()) return 0;
  m_watch.begin();
  for (;;) {
    // A pipe is read only when it is ready: before its first writer comes it looks as if it had ended, and standard input may block.
    bool ready = true;
    if (m_atEnd == AtEnd::kEnd) {
      pollfd wanted{m_descriptor, POLLIN, 0};
      ready = ::poll(&wanted, 1, 0) > 0;
    }
    if (ready) {
      const ssize_t got = ::read(m_descriptor, into.data(), into.size());
      if (got > 0) return static_cast<int>(got);
      if (got == 0 && m_atEnd == AtEnd::kEnd) {
        m_end = LiveEnd::kEndOfStream;
        return 0;
      }
      if (got < 0 && errno != EAGAIN && errno != EINTR) {
        m_end = LiveEnd::kDamaged;
        return 0;
      }
    }
    if (m_watch.shouldStop()) {
      m_end = m_watch.closed() || m_watch.finished() ? LiveEnd::kEndOfStream : LiveEnd::kStalled;
      return 0;
    }
    waitForMore();
  }
}

}  // namespace winnow::app
