// A descriptor that is closed with its owner. Threads: one at a time. Errors: none.
#pragma once

#include <unistd.h>

#include <utility>

namespace winnow::app {

class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : m_descriptor(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : m_descriptor(other.release()) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (m_descriptor >= 0) ::close(m_descriptor);
  }

  int descriptor() const { return m_descriptor; }
  explicit operator bool() const { return m_descriptor >= 0; }
  int release() { return std::exchange(m_descriptor, -1); }

 private:
  int m_descriptor = -1;
};

}  // namespace winnow::app
