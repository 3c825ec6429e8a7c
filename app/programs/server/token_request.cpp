#include "app/programs/server/token_request.h"

#include <QByteArrayView>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/programs/server/api_json.h"
#include "app/programs/server/api_refusal.h"
#include "app/programs/server/request_fields.h"

namespace winnow::app {
namespace {

using Ordered = nlohmann::ordered_json;

Tokenize ofText(std::string text, bool withPrefix) {
  return {.messages = {{Role::kUser, {TextItem{std::move(text)}}}},
          .prompt = {.form = withPrefix ? PromptForm::kPlainText : PromptForm::kBareText}};
}

// A piece that is no whole text is told by its bytes.
Ordered pieceJson(const std::string& piece) { return QByteArrayView(piece).isValidUtf8() ? Ordered(piece) : bytesJson(piece); }

}  // namespace

TokenRequest tokenizeRequestOf(const RequestFields& body, const RequestDefaults& defaults, const RequestMedia& media,
                               const MediaReader& reader) {
  TokenRequest request{.model = body.text("model").value_or("")};
  if (auto content = body.text("content")) {
    if (!body.boolean("parse_special", true)) refuseUnsupported("parse_special", "reading special tokens as text");
    request.withPieces = body.boolean("with_pieces", false);
    request.body = ofText(*std::move(content), body.boolean("add_special", false));
    return request;
  }
  request.form = TokenRequest::Form::kPrompt;
  request.withPieces = body.boolean("return_token_strs", false);
  if (auto prompt = body.text("prompt")) {
    request.body = ofText(*std::move(prompt), body.boolean("add_special_tokens", true));
    return request;
  }
  if (body.find("messages") == nullptr) throw ApiRefusal(400, "there must be a content, a prompt or messages");
  if (!body.boolean("add_generation_prompt", true)) refuseUnsupported("add_generation_prompt", "a thread without the start of its answer");
  if (body.boolean("continue_final_message", false)) refuseUnsupported("continue_final_message", "going on with a message");
  ChatRequest chat = chatRequestOf(body, defaults, media, reader);
  if (!chat.sounds.empty()) refuseUnsupported("messages", "counting the tokens of a sound");
  request.chat = std::move(chat.turn);
  if (!begins_anew(*request.chat)) refuseUnsupported("messages", "an answer that is begun");
  return request;
}

TokenRequest detokenizeRequestOf(const RequestFields& body) {
  const Json* tokens = body.list("tokens", kMostGivenTokens);
  if (tokens == nullptr) throw ApiRefusal(400, "is missing", "tokens");
  Detokenize wanted;
  for (const Json& token : *tokens) {
    const bool fits = token.is_number_integer() && !(token.is_number_unsigned() && token.get<std::uint64_t>() > INT64_MAX);
    if (!fits) throw ApiRefusal(400, "must be a list of token ids", "tokens");
    wanted.tokens.push_back(token.get<std::int64_t>());
  }
  return {body.text("model").value_or(""), std::move(wanted), TokenRequest::Form::kBack};
}

Ordered tokenizedJson(const TokenRequest& request, const Tokenized& tokenized, std::int64_t contextTokens) {
  if (request.form == TokenRequest::Form::kBack) return {{"content", tokenized.text}, {"prompt", tokenized.text}};
  Ordered pieces = Ordered::array();
  for (const std::string& piece : tokenized.pieces) pieces.push_back(pieceJson(piece));
  if (request.form == TokenRequest::Form::kPrompt) {
    return {{"count", tokenized.tokens.size()},
            {"max_model_len", contextTokens},
            {"tokens", tokenized.tokens},
            {"token_strs", request.withPieces ? std::move(pieces) : Ordered()}};
  }
  if (!request.withPieces) return {{"tokens", tokenized.tokens}};
  Ordered tokens = Ordered::array();
  for (std::size_t i = 0; i < pieces.size(); ++i) tokens.push_back({{"id", tokenized.tokens.at(i)}, {"piece", std::move(pieces[i])}});
  return {{"tokens", std::move(tokens)}};
}

}  // namespace winnow::app
