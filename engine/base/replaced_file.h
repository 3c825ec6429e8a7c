// Writes a file completely before it replaces the one of its name.
//
// Used for files that people ask the program to write (exports, tables) and for its own small files. Written beside the target under a
// unique name, synced, renamed; without commit() nothing is left behind. What a process left that was killed while writing is removed when
// the same file is written again, or by remove_unfinished(). A symbolic link's target is replaced, not the link. Folders, devices and FIFOs
// are refused; an existing file keeps its permissions.
// Errors: Exception(kFileUnreadable), subject = the path as given, with the system's reason. Threads: confined to one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace winnow {

// Throws what the constructor would throw, for a check before a long computation. Creates nothing.
void require_replaceable(const std::string& path);

class ReplacedFile {
 public:
  explicit ReplacedFile(std::string path);
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  std::string path_;
  std::string target_;  // path_ with links followed
  std::string part_;    // beside it; empty: committed
  int descriptor_ = -1;
};

// Removes what processes that are gone have left of this file, "<path>.<process>-<n>.part"; of a folder, if `path` ends in "/", of every
// file in it. Looks at kMostNamesLookedAt names at most. Errors: none; what cannot be removed stays.
inline constexpr int kMostNamesLookedAt = 10'000;
void remove_unfinished(const std::string& path);

// True if both name the same file, by device and number; false if one of them is not there.
bool same_file(const std::string& a, const std::string& b);

}  // namespace winnow
