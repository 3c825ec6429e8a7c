#include "engine/generation/requests/run_tokenize.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "engine/base/error.h"
#include "engine/generation/context/cache_shape.h"
#include "engine/generation/segment/prompt.h"

namespace winnow {
namespace {

Tokenized told(const LoadedModel& model, std::vector<std::int64_t> tokens) {
  Tokenized answer;
  for (const std::int64_t token : tokens) answer.pieces.emplace_back(model.tokenizer->token_bytes(token));
  answer.text = model.tokenizer->decode(tokens, SpecialTokens::kKeep);
  answer.tokens = std::move(tokens);
  return answer;
}

bool has_attachment(const Message& message) {
  return std::ranges::any_of(message.items, [](const Item& item) { return std::holds_alternative<MediaItem>(item); });
}

}  // namespace

Tokenized run_tokenize(const LoadedModel& model, const Tokenize& request) {
  if (request.messages.empty() || std::ranges::any_of(request.messages, has_attachment))
    throw Exception(ErrorCode::kInvalidArgument, "", "what is turned into tokens is a thread of text");
  const Conversation nothing(cache_shape(*model.network, RecipeSpec()));
  PromptSegment prompt = build_prompt({model, request.messages, request.prompt, nothing}, {});
  return told(model, std::move(prompt.token_ids));
}

Tokenized run_detokenize(const LoadedModel& model, const Detokenize& request) {
  const std::int64_t vocabulary = model.tokenizer->vocabulary_size();
  for (const std::int64_t token : request.tokens) {
    if (token < 0 || token >= vocabulary)
      throw Exception(ErrorCode::kInvalidArgument, "", "the vocabulary has no token " + std::to_string(token));
  }
  return told(model, request.tokens);
}

}  // namespace winnow
