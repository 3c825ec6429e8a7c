// Prompts as tokens and tokens as text, without running the model.
//
// Used by the engine. The tokens are those that a turn of the same messages begins with. Errors: Exception; kInvalidArgument (attachments,
// a token that the vocabulary does not have), kLimitExceeded (more than may be told), and those of the chat template and the tokenizer;
// Interrupted. Engine thread only.
#pragma once

#include <cstddef>

#include "engine/base/interrupt.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

inline constexpr std::size_t kMostToldTokens = std::size_t{1} << 20;
inline constexpr std::size_t kMostToldBytes = std::size_t{64} << 20;  // of their text

Tokenized run_tokenize(const LoadedModel& model, const Tokenize& request, const InterruptToken& interrupt);
Tokenized run_detokenize(const LoadedModel& model, const Detokenize& request);

}  // namespace winnow
