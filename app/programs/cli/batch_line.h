// One line of a batch file: questions, mostly about one image or video, and what they are asked with.
//
// Used by run_batch. A line may be written by a program that we know nothing about; what it says beside the fields that are
// read is refused by name, but for "id" and "about". Errors: Exception with the bounded reader's codes;
// the subject is "questions.jsonl:7: max_tokens".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/programs/cli/turn_options.h"

namespace winnow::cli {

struct BatchLine {
  TurnOptions turn;
  std::vector<std::vector<Item>> questions;  // texts, and media in prompt order
  bool together = false;                     // the questions are one conversation
  std::vector<RecipeSpec> recipes;           // each question is compared under all of them; empty: the turn's alone
  bool check = false;                        // then check each answer against the full cache
  std::optional<std::string> given;          // then read as the answer, by what the recipe has left
};

// defaults: of what the line leaves out; together: of --together. where: "questions.jsonl:7".
BatchLine read_batch_line(std::string_view text, const std::string& where, const TurnOptions& defaults, bool together = false);

}  // namespace winnow::cli
