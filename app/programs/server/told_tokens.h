// The tokens of an answer with their probabilities, from when they are sampled until their text is told.
//
// Those whose text is held back wait with it, and go with it where it belongs to a stop string. In the two forms of OpenAI's API: of
// messages (`content`), and of text (`tokens`, `top_logprobs`, `text_offset`). Errors: none. Threads: one.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/programs/server/chat_request.h"
#include "engine/messages/events.h"

namespace winnow::app {

class ToldTokens {
 public:
  // before: the text in front of the answer, in whose characters places count.
  ToldTokens(AnswerForm form, const std::string& before);

  void add(const TokenSampled& token);  // of a thought: left out
  void release();                       // their text is told
  // The `logprobs` of those that were released since the last call; null: of none.
  nlohmann::ordered_json take();

 private:
  nlohmann::ordered_json ofMessages() const;
  nlohmann::ordered_json ofText();

  const AnswerForm m_form;
  std::size_t m_characters;  // of the text so far
  std::vector<TokenSampled> m_waiting, m_told;
};

}  // namespace winnow::app
