// How often the files of a folder are opened, whoever opens them (inotify).
#pragma once

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>

namespace winnow::test {

class OpenedFiles {
 public:
  explicit OpenedFiles(const std::string& folder) : queue_(::inotify_init1(IN_NONBLOCK)) {
    EXPECT_GE(::inotify_add_watch(queue_, folder.c_str(), IN_OPEN), 0);
  }
  ~OpenedFiles() { ::close(queue_); }
  std::map<std::string, int> counts() const {
    std::map<std::string, int> counts;
    alignas(inotify_event) std::array<char, 65'536> bytes;
    for (ssize_t size = ::read(queue_, bytes.data(), bytes.size()); size > 0; size = ::read(queue_, bytes.data(), bytes.size())) {
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(bytes.data() + at);
        if (event->len > 0 && (event->mask & IN_ISDIR) == 0) ++counts[event->name];
        at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
      }
    }
    return counts;
  }

 private:
  int queue_;
};

}  // namespace winnow::test
