// Lines of an untrusted text file or of stdin.
//
// Used for files of JSON lines and by the terminal's chat. Only regular files are opened (RegularFile), a line has an upper length, and a
// read error is an error, not an end of file. Without line break characters; "\r\n" keeps its "\r".
// Errors: Exception with RegularFile's codes, kLimitExceeded (a line above the limit), kFileUnreadable. Threads: confined to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/file_bytes.h"

namespace winnow {

class LineReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{4} << 20;

  explicit LineReader(const std::string& path);
  // Reads stdin: a terminal, a pipe or a file.
  static LineReader standard_input();

  // False at the end. A last line without line break counts.
  bool next(std::string& line);
  // "questions.jsonl:7", the line that next() gave last.
  std::string where() const { return name_ + ":" + std::to_string(number_); }

 private:
  LineReader() = default;
  bool fill();

  std::optional<RegularFile> file_;  // absent: stdin
  std::string name_ = "stdin";
  std::uint64_t offset_ = 0;  // of the file, behind buffer_
  std::string buffer_;
  std::size_t at_ = 0;  // in buffer_
  std::int64_t number_ = 0;
};

}  // namespace winnow
