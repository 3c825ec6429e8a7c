// A small set of questions for `eval`, and what its log is counted by.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/cli/cli_run.h"

namespace winnow::testing {

// Six questions at 8 frames.
inline std::string eval_questions() {
  std::string text;
  for (const char* question : {"What is the first shape?", "What color is the circle?", "List everything in order.", "Is there a red star?",
                               "What letter is on the card?", "How many crosses are there?"}) {
    text += nlohmann::json({{"media", demo("samples/ten-seconds.mp4").string()},
                            {"frames", 8},
                            {"question", question},
                            {"answers", {"The circle is orange."}},
                            {"metric", "rouge-l"}})
                .dump() +
            "\n";
  }
  return text;
}

inline long lines_in(const std::string& path) {
  const std::string text = file_text(path);
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace winnow::testing
