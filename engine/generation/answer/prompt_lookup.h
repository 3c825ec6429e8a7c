// Drafts the next tokens of an answer from the text before it: prompt lookup decoding. Answers that quote, summarise or edit repeat what
// stands there, and a step on a CPU reads a few tokens in less time than as many steps.
//
// Used by AnswerLoop, which keeps only the drafted tokens that it chooses itself: the answer is the same with and without. Saxena, Prompt
// Lookup Decoding (2023); as assisted generation in transformers with prompt_lookup_num_tokens, but for the pauses (draft_gains.h). Engine
// thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/generation/answer/draft_gains.h"

namespace winnow {

class PromptLookup {
 public:
  // At most `most` tokens that may come after the tokens `text` and `next`: those that did where the text last went the same way for three
  // tokens or more, and no more of them than that. Empty if there is no such place, or drafting does not pay now.
  std::vector<std::int64_t> draft(std::span<const std::int64_t> text, std::int64_t next, std::size_t most);

  void note_step(std::size_t rows, std::size_t kept, double elapsed_ms) { gains_.note_step(rows, kept, elapsed_ms); }

 private:
  DraftGains gains_;
};

}  // namespace winnow
