// A thread rendered by its model's chat template, and the part that is not cached yet.
//
// Used by build_prompt() and by who asks from which state a turn can go on. Templates write an answer otherwise once it is history than
// while it is given: thoughts are dropped, an empty thinking block goes, marks stand at the very end only. So what is new is found in the
// rendering of the whole thread, by the marks of whose text is whose, and what is before it must be what the cache has read.
// Errors: Exception (a template that fails).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/generation/context/loaded_model.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/messages/requests.h"
#include "engine/models/media_facts.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

namespace winnow {

enum class TimeInstruction : int { kAsTheModelHasIt = 1, kNone = 2 };

// A thread whose first messages a conversation has read. All borrowed.
struct ThreadToRead {
  const LoadedModel& model;
  std::span<const Message> messages;  // the whole of it, ending with the user's message
  const PromptSettings& settings;
  const Conversation& held;  // ends with an answer, or with a question and the template's start of its answer

  std::size_t cached() const { return held.thread.size(); }
  // The cache ends in an answer, whose end-of-turn text it does not hold.
  bool behind_an_answer() const { return !held.thread.empty() && held.thread.back().role == Role::kAssistant; }
};

struct UnreadText {
  std::vector<TemplatePiece> pieces;
  TextStart start = TextStart::kNew;  // of the first of them
};

// The uncached text. nullopt if the cache cannot be continued, because the template now renders its part differently. videos: times of the
// new ones; their time instruction becomes a text of its own before the message's texts.
std::optional<UnreadText> unread_text(const ThreadToRead& thread, std::span<const VideoTimes> videos, TimeInstruction times);

bool goes_on(const ThreadToRead& thread);

// The template's text before the first question; empty without a system message, or if that is part of the question.
std::vector<TemplatePiece> system_text(const ThreadToRead& thread);

// True if the thread's system prompt is prepended to the first question, because its template has no place for one.
bool system_joins_question(const LoadedModel& model, std::span<const Message> messages);

}  // namespace winnow
