// Questions for certain moments of a source, from a file of JSON lines: {"at": seconds, "question": text}.
//
// Used by watch. Errors: Exception naming file and line (kDamagedFile), LineReader's.
#pragma once

#include <string>
#include <vector>

namespace winnow::cli {

struct TimedQuestion {
  double at_s = 0.0;  // of the source; asked when all frames before this moment were seen
  std::string question;
};

// By time; equal times in the order of the file.
std::vector<TimedQuestion> read_timed_questions(const std::string& path);

}  // namespace winnow::cli
