// Tokenises the part of a thread that is not cached yet.
//
// Used by prepare_segment() and plan_turn(). The chat template renders the thread (thread_text.h); template text may contain special
// tokens, text typed by a person never does (it is encoded as ordinary text, as encode_special_tokens=True). Every image, video and
// document is one placeholder id here; what a family writes around a video or an image is text of the template. A document stands where its
// message's text begins, with an empty line behind it. Errors: Exception (a template that fails, a placeholder count that does not fit).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/generation/segment/prompt_ids.h"
#include "engine/generation/segment/thread_text.h"
#include "engine/models/media_facts.h"

namespace winnow {

struct PromptSegment {
  std::vector<std::int64_t> token_ids;  // one placeholder id per media item
  std::vector<std::size_t> media_at;    // positions of the placeholders in token_ids, in prompt order
  std::vector<std::size_t> media_item;  // for each of them: index of its media item among the new messages' media, in thread order
  std::size_t system_tokens = 0;        // leading tokens before the first user turn
};

// media: of the messages that are not read yet. Requires goes_on(thread).
PromptSegment build_prompt(const ThreadToRead& thread, const PromptMedia& media, TimeInstruction times = TimeInstruction::kAsTheModelHasIt);

// Errors: kInvalidArgument if a question has no tokens, because the vocabulary knows none of its characters.
void require_tokens(const PromptSegment& prompt);

struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;  // one after the last
};

// The range of prompt.token_ids with the last message's own text, without time instruction and template: the tokens that are missing when
// the message has no text. prompt: made from these arguments. Empty if it has no text.
TokenRange words_asked(const ThreadToRead& thread, const PromptMedia& media, const PromptSegment& prompt);

}  // namespace winnow
