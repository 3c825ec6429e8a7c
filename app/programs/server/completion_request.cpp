#include "app/programs/server/completion_request.h"

#include "app/programs/server/answer_settings.h"
#include "app/programs/server/api_refusal.h"
#include "app/programs/server/request_fields.h"

namespace winnow::app {
namespace {

constexpr int kUsualTokens = 16;  // of OpenAI's API, where max_tokens is left out
constexpr std::string_view kOfCompletions[] = {"prompt", "logprobs", "best_of", "suffix", "echo"};

std::string promptOf(const RequestFields& body) {
  const Json* prompt = body.find("prompt");
  if (prompt == nullptr) throw ApiRefusal(400, "is missing", "prompt");
  if (prompt->is_string()) return prompt->get<std::string>();
  if (!prompt->is_array() || prompt->empty()) throw ApiRefusal(400, "must be a text, or a list of one text", "prompt");
  const Json& first = prompt->front();
  if (first.is_number() || first.is_array()) refuseUnsupported("prompt", "a prompt of token ids");
  if (prompt->size() > 1) refuseUnsupported("prompt", "more than one prompt to a request");
  if (!first.is_string()) throw ApiRefusal(400, "must be a text, or a list of one text", "prompt");
  return first.get<std::string>();
}

}  // namespace

ChatRequest completionRequestOf(const RequestFields& body, const RequestDefaults& defaults) {
  ChatRequest request{.form = AnswerForm::kText};
  readAnswerSettings(body, defaults, request);
  if (!request.lengthGiven) request.turn.sampling.max_new_tokens = kUsualTokens;
  request.lengthGiven = true;
  if (body.whole("best_of", 0, 1'000'000).value_or(1) > 1) refuseUnsupported("best_of", "the best of several answers");
  if (const Json* suffix = body.find("suffix"); suffix != nullptr && !asksNothing(*suffix))
    refuseUnsupported("suffix", "a text behind the answer");
  const bool echoed = body.boolean("echo", false);
  if (const auto likeliest = body.whole("logprobs", 0, kMostTopProbabilities)) {
    if (echoed) refuseUnsupported("echo", "the probabilities of a prompt");
    request.turn.sampling.told_probabilities = static_cast<int>(*likeliest);
  }
  request.ignored = unknownFields(body, kOfCompletions);
  const std::string prompt = promptOf(body);
  if (echoed) request.echo = prompt;
  request.turn.prompt.form = PromptForm::kPlainText;
  request.turn.messages = {{Role::kUser, {TextItem{prompt}}}};
  return request;
}

}  // namespace winnow::app
