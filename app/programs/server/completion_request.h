// The body of POST /v1/completions, checked: a text that the model goes on with, without its chat template.
//
// Special tokens in the text are what they stand for, and the tokenizer's own beginning stands before it, as in other servers. A prompt of
// token ids, several prompts, best_of, suffix and probabilities of the prompt are refused. Errors: ApiRefusal (400). Threads: any.
#pragma once

#include "app/programs/server/chat_request.h"

namespace winnow::app {

ChatRequest completionRequestOf(const RequestFields& body, const RequestDefaults& defaults);

}  // namespace winnow::app
