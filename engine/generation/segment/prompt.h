// Messages to token ids: the segment of a thread that the cache does not hold yet.
//
// Used by prepare_segment() and plan_turn(). The chat template renders the thread; template text may contain special tokens, text typed by
// a person never does (it is encoded as ordinary text, as encode_special_tokens=True). Every image, video and document is one placeholder
// id here; what a family writes around a video or an image is text of the template. A document stands where its message's text begins, with
// an empty line behind it. Errors: Exception (a template that fails, a placeholder count that does not fit).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/messages/requests.h"
#include "engine/models/media_facts.h"

namespace winnow {

// Stands for a document; no vocabulary has it.
inline constexpr std::int64_t kDocumentPlaceholder = -2;

// "The video lasts {duration_s} seconds, {frames} frames." with its placeholders filled: duration rounded to whole seconds, or with two
// decimals ({exact_duration_s}), frames, seconds between frames with two decimals ({interval_s}), and the seconds of every frame
// ({frame_times}: "0.00s,0.50s"), of a source that is still running as far apart as they are on the whole.
std::string time_instruction(const std::string& pattern, const VideoTimes& times);

struct PromptSegment {
  std::vector<std::int64_t> token_ids;  // one placeholder id per media item
  std::vector<std::size_t> media_at;    // positions of the placeholders in token_ids, in prompt order
  std::vector<std::size_t> media_item;  // for each of them: index of its media item among the new messages' media, in thread order
  std::size_t system_tokens = 0;        // leading tokens before the first user turn
};

enum class TimeInstruction : int { kAsTheModelHasIt = 1, kNone = 2 };

// thread: the whole conversation, ending with the user's message; the first `cached` messages are in the cache already. media: of the
// others. The last of the cached ones is
// the assistant's answer, whose end-of-turn text is not, or a question, after which the start of its answer is.
PromptSegment build_prompt(const LoadedModel& model, std::span<const Message> thread, std::size_t cached, const PromptMedia& media,
                           TimeInstruction times = TimeInstruction::kAsTheModelHasIt);

struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;  // one after the last
};

// What the last message's own text became of prompt.token_ids, that is without time line and template: the tokens that are not there when
// it has none. prompt: of these arguments. Empty: it has none.
TokenRange words_asked(const LoadedModel& model, std::span<const Message> thread, std::size_t cached, const PromptMedia& media,
                       const PromptSegment& prompt);

}  // namespace winnow
