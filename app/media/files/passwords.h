// The passwords that open encrypted documents, as their user has typed them: held until the program ends, and written nowhere.
//
// Filled by the window and the terminal program, asked by ProcessMediaReader when it opens a file, and told to winnow-engine, whose own
// reader opens the files of a question (app/engine/process). They are no part of a MediaRequest, and so of no saved chat, kept cache or
// log. Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/metrics/fields_of.h"

namespace winnow::app {

struct FilePassword {
  std::string path;      // as MediaRequest::path
  std::string password;  // UTF-8
};
WINNOW_FIELDS(FilePassword, path, password)

class Passwords {
 public:
  // Replaces an earlier one; an empty one forgets it.
  void set(FilePassword known) {
    const std::lock_guard lock(m_mutex);
    m_known[std::move(known.path)] = {std::move(known.password), ++m_changes};
  }
  // Empty: none is known.
  std::string of(const std::string& path) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_known.find(path);
    return found == m_known.end() ? std::string() : found->second.password;
  }
  // Those that were set after so many changes, and how many there are by now.
  std::vector<FilePassword> since(std::uint64_t& changes) const {
    const std::lock_guard lock(m_mutex);
    std::vector<FilePassword> newer;
    for (const auto& [path, known] : m_known) {
      if (known.change > changes) newer.push_back({path, known.password});
    }
    changes = m_changes;
    return newer;
  }

 private:
  struct Known {
    std::string password;
    std::uint64_t change = 0;  // at which it was set
  };
  mutable std::mutex m_mutex;  // guards the members below
  std::map<std::string, Known> m_known;
  std::uint64_t m_changes = 0;
};

}  // namespace winnow::app
