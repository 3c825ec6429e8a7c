// Maps each token of an answer to its word. Words are split at white space; the reasoning has none.
// Used by answer_score.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/generation/conversation/answer_text.h"

namespace winnow {

class AnswerWords {
 public:
  // tokens: of the answer, with its end token; answer: its text without the stop string.
  AnswerWords(const LoadedModel& model, ThoughtStart start, std::span<const std::int64_t> tokens, std::string answer);

  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  // True if the token belongs to the reasoning, before the answer's first word.
  bool of_thought(std::size_t token) const { return token < thought_tokens_; }
  // The word that holds the token's first visible character; size() for tokens after the last word.
  std::int64_t word_of(std::size_t token) const { return word_of_[token]; }
  std::string text(std::int64_t word) const;         // empty for size()
  std::string text_before(std::size_t token) const;  // of its word

 private:
  std::string answer_;
  std::vector<std::pair<std::size_t, std::size_t>> words_;  // [begin, end) in answer_, in bytes
  std::vector<std::size_t> begins_;                         // per token, in bytes
  std::vector<std::int64_t> word_of_;                       // per token
  std::size_t thought_tokens_ = 0;
};

// Length in bytes of the white space, or of the word, that starts at `at`.
std::size_t space_length(std::string_view text, std::size_t at);
std::size_t word_length(std::string_view text, std::size_t at);

}  // namespace winnow
