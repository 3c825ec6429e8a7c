#include "app/programs/cli/timed_questions.h"

#include <algorithm>

#include "app/programs/cli/option_checks.h"
#include "engine/base/json_document.h"
#include "engine/base/line_reader.h"

namespace winnow::cli {

std::vector<TimedQuestion> read_timed_questions(const std::string& path) {
  LineReader lines(path);
  std::vector<TimedQuestion> questions;
  for (std::string text; lines.next(text);) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json given = parse_json(text, lines.where(), {.max_bytes = LineReader::kLongestLine});
    const JsonObject line(given, lines.where());
    questions.push_back({line.real("at", 0.0, kLongestS), line.string("question", LineReader::kLongestLine)});
  }
  std::stable_sort(questions.begin(), questions.end(), [](const TimedQuestion& a, const TimedQuestion& b) { return a.at_s < b.at_s; });
  return questions;
}

}  // namespace winnow::cli
