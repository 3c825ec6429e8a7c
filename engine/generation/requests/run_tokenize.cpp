#include "engine/generation/requests/run_tokenize.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "engine/base/error.h"
#include "engine/generation/context/cache_shape.h"
#include "engine/generation/segment/prompt.h"
#include "engine/text/text_bounds.h"

namespace winnow {
namespace {

Tokenized told(const LoadedModel& model, std::vector<std::int64_t> tokens) {
  if (tokens.size() > kMostToldTokens)
    throw Exception(ErrorCode::kLimitExceeded, "", "there are more than " + std::to_string(kMostToldTokens) + " tokens");
  std::size_t bytes = 0;
  for (const std::int64_t token : tokens) bytes += model.tokenizer->token_bytes(token).size();
  if (bytes > kMostToldBytes) throw Exception(ErrorCode::kLimitExceeded, "", "the text of the tokens is longer than 64 MiB");
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

Tokenized run_tokenize(const LoadedModel& model, const Tokenize& request, const InterruptToken& interrupt) {
  const TextBounds bounds(interrupt, kMostToldTokens);
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
