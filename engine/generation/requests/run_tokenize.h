// Prompts as tokens and tokens as text, without running the model.
//
// Used by the engine. The tokens are those that a turn of the same messages begins with. Errors: Exception; kInvalidArgument (attachments,
// a token that the vocabulary does not have), and those of the chat template and the tokenizer. Engine thread only.
#pragma once

#include "engine/generation/context/loaded_model.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

Tokenized run_tokenize(const LoadedModel& model, const Tokenize& request);
Tokenized run_detokenize(const LoadedModel& model, const Detokenize& request);

}  // namespace winnow
