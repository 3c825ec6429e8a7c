// Answers a request of OpenAI's API once its turn has come: finds the conversation that it goes on with, makes an answer of its events, and
// keeps what the next one needs.
//
// Errors: none; a request that fails is answered so. Threads: the makers any; the rest, what they make included, is of the EngineHost's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/programs/server/answer_line.h"
#include "app/programs/server/counted_replies.h"
#include "app/programs/server/served_threads.h"
#include "app/programs/server/token_request.h"

namespace winnow::app {

class ServedAnswers {
 public:
  using Answer = CountedReplies::Answer;

  // All outlive this, and this outlives what is made.
  ServedAnswers(EngineHost& engine, CountedReplies& replies, std::int64_t keptBytes);

  // model: its name. planOnly: only what the answer would take.
  AnswerLine::Place answerTo(ChatRequest request, const std::string& model, const Answer& answer, bool planOnly);
  AnswerLine::Place tokensOf(TokenRequest request, std::int64_t contextTokens, const Answer& answer);
  // heard: told what is said, unless that fails, which is answered.
  AnswerLine::Place wordsOf(Transcribe sound, const Answer& answer, std::function<void(const Transcribed& heard)> heard);

  std::vector<ConversationId> forgetAll() { return m_threads.forgetAll(); }

 private:
  class Asked;
  class AskedTokens;
  class AskedWords;

  // A completion of plain text goes on from nothing, and nothing goes on from it.
  ConversationId plainConversation();
  void ended(ConversationId conversation);

  EngineHost& m_engine;
  CountedReplies& m_replies;
  ServedThreads m_threads;
  ConversationId m_lastPlain;
};

}  // namespace winnow::app
