// From the stored thread to the engine's Turn: pure, no files are touched.
//
// Used by ui and the terminal program when a question is sent or regenerated. Media come before the text of their message, in the order
// attached. An empty or failed answer is left out, and the question before it is joined with the next one, so that roles alternate and no
// attachment is lost; an interrupted answer with text stays.
// Chat templates that write a date are given the day of the first question, so that the chat reads the same tomorrow.
// The makers of the last answer's cache are named, so that no other cache of the same words is gone on from. Pins of attachments become the
// turn's, widened so that each keeps a frame. Errors: winnow::Exception(kInvalidArgument) when the thread does not end with a question or
// the question is empty.
#pragma once

#include "app/chats/chat/conversation.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow::app {

struct TurnOptions {
  RecipeSpec recipe{};
  Sampling sampling{};
  QString systemPrompt;  // empty: none, the model's template decides
};

// `thread`: root first (branchTo), ending with the question to be answered; a trailing empty answer row is ignored.
Turn buildTurn(ConversationId conversation, const QList<StoredMessage>& thread, const TurnOptions& options);

// The video that the turn can be answered from a part of (FramePlan::taken): its question's, if there is no other. Null: none.
MediaRequest* videoInParts(Turn& turn);

// So many frames are there that an answer can be written from them, and more are still encoded; 0: not so.
int framesToAnswerFrom(const Progress& frames);

}  // namespace winnow::app
