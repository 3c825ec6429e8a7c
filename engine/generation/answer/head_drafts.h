// Drafts the next tokens of an answer by the model's own draft head (multi-token prediction), where it has one.
//
// Used by AnswerLoop beside prompt_lookup.h, and like it never seen in the answer. The head reads the answer alone, token by token as the
// answer takes them: its cache holds nothing of the prompt, is not kept, and has nothing to take back. What it cannot know makes its
// guesses worse, never the answer. While drafts pause it reads nothing and goes on with the last few tokens. A head guesses one token; it
// goes on from its own guess, over a fork of its cache, as long as drafts of that length come true. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/generation/answer/draft_gains.h"
#include "engine/models/decoder/text_decoder.h"

namespace winnow {

class HeadDrafts {
 public:
  // text must outlive it.
  explicit HeadDrafts(const TextDecoder& text);

  // The answer goes on behind the token that left row.hidden.
  void follow(DraftRow row);
  // At most `most` tokens that may come after the last followed one.
  std::vector<std::int64_t> draft(std::size_t most);
  // Like DraftGains::note_step().
  void note_step(std::size_t rows, std::size_t kept, double elapsed_ms);

 private:
  const TextDecoder& text_;
  std::optional<KvCache> cache_;  // nothing without a draft head
  std::vector<DraftRow> unread_;  // by the head
  std::size_t length_ = 1;        // of the next draft
  DraftGains gains_;
};

}  // namespace winnow
