// The body of a request for an answer, checked: what OpenAI's and vLLM's clients send, and what is Winnow's own under "winnow".
//
// A field that cannot be served is refused if leaving it out would give another answer than was asked for; what only describes the
// caller (user, metadata) or what tools may be called (tools) is left out, the latter told in `ignored`. Fields that are not known are
// left out and told likewise. A last message of the assistant is the beginning of the answer. Errors: ApiRefusal (400). Threads: one.
#pragma once

#include <string>
#include <vector>

#include "app/media/files/media_reader.h"
#include "app/programs/server/request_fields.h"
#include "app/programs/server/request_media.h"
#include "engine/messages/requests.h"
#include "engine/models/model_info.h"

namespace winnow::app {

// In which form an answer is written: of messages (/v1/chat/completions), or of a text that goes on (/v1/completions).
enum class AnswerForm : int { kChat = 1, kText = 2 };

struct ChatRequest {
  AnswerForm form = AnswerForm::kChat;
  std::string model{};  // as named; empty: none
  Turn turn{};          // without a conversation
  bool stream = false;
  bool usageInStream = false;
  bool lengthGiven = false;            // of the answer
  std::string echo{};                  // before the text: the prompt, where it is wanted again
  std::vector<std::string> ignored{};  // fields that had no effect
  std::vector<std::string> sounds{};   // files of sound among the turn's documents, which are to become what is said in them
};

// The defaults for what a request leaves out.
struct RequestDefaults {
  RecipeSpec recipe;
  Sampling sampling;
  bool seedGiven = false;  // by sampling; else each answer that is sampled has another one
  FramePlan plan;
  MediaDetails detail{};
  // The loaded model's choices: bounds in its processor's own words are only read where they mean something.
  DetailChoices pictures{};
  DetailChoices frames{};
};

// reader: asked what a file is.
ChatRequest chatRequestOf(const RequestFields& body, const RequestDefaults& defaults, const RequestMedia& media, const MediaReader& reader);

}  // namespace winnow::app
