// One line of a batch file: questions about one image or video, and what they are asked with.
//
// Used by run_batch. A line may be written by a program that we know nothing about; what it says beside the fields that are
// read is refused by name, but for "id" and "about". Errors: Exception with the bounded reader's codes;
// the subject is "questions.jsonl:7: max_tokens".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/turn_options.h"

namespace winnow::cli {

struct BatchLine {
  TurnOptions turn;
  std::vector<std::string> questions;
};

// defaults: of what the line leaves out. where: "questions.jsonl:7".
BatchLine read_batch_line(std::string_view text, const std::string& where, const TurnOptions& defaults);

}  // namespace winnow::cli
