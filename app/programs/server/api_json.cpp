#include "app/programs/server/api_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/messages/field_values.h"
#include "engine/messages/message_fields.h"

namespace winnow::app {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered orNull(const std::string& text) { return text.empty() ? Ordered() : Ordered(text); }

Ordered errorJson(int status, const std::string& message, const std::string& param, const std::string& code) {
  const char* type = status == 429   ? "rate_limit_error"
                     : status == 401 ? "authentication_error"
                     : status < 500  ? "invalid_request_error"
                                     : "server_error";
  return {{"error", {{"message", message}, {"type", type}, {"param", orNull(param)}, {"code", orNull(code)}}}};
}

struct PlainForm {
  using Json = Ordered;
};

std::string lineOf(const Ordered& value) { return "data: " + jsonText(value) + "\n\n"; }

Ordered headOf(const AnswerName& name, const char* object) {
  Ordered head = {{"id", name.id}, {"object", object}, {"created", name.createdS}, {"model", name.model}};
  if (name.seed) head["seed"] = *name.seed;
  return head;
}

Ordered chunkOf(const AnswerName& name) {
  return headOf(name, name.form == AnswerForm::kChat ? "chat.completion.chunk" : "text_completion");
}

Ordered choiceOf(const Ordered& of, const char* finishReason) {
  Ordered choice = {{"index", 0}};
  choice.update(of);
  choice["finish_reason"] = finishReason == nullptr ? Ordered() : Ordered(finishReason);
  return choice;
}

// Limits of the words themselves, of the template around them and of a message are told in their own words. A file has a name.
bool isAboutAFile(const Error& error) { return error.subject.find('/') != std::string::npos; }

ApiRefusal refusalOfLimit(const Error& error) {
  if (isAboutAFile(error)) return {400, "an attached file cannot be used: " + error.reason, "messages", "invalid_media"};
  const std::string subject = error.subject == "chat template" ? "the chat template " : error.subject + ": ";
  return {400, error.subject.empty() ? error.reason : subject + error.reason, "messages", "text_not_usable"};
}

}  // namespace

std::string jsonText(const Ordered& value) { return value.dump(-1, ' ', false, Ordered::error_handler_t::replace); }

Ordered bytesJson(const std::string& bytes) {
  Ordered list = Ordered::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return list;
}

HttpReply jsonReply(const Ordered& body, int status) { return {status, "application/json", jsonText(body), {}}; }

HttpReply errorReply(int status, const std::string& message, const std::string& param, const std::string& code) {
  return jsonReply(errorJson(status, message, param, code), status);
}

HttpReply errorReply(const ApiRefusal& refusal) { return errorReply(refusal.status(), refusal.message(), refusal.param(), refusal.code()); }

ApiRefusal refusalOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kContextFull: return {400, error.reason, "messages", "context_length_exceeded"};
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kEngineOutOfMemory: return {503, "there is not enough memory for this answer", {}, "out_of_memory"};
    case ErrorCode::kIllegalRecipe:
      return {400, error.subject.empty() ? error.reason : error.subject + ": " + error.reason, "winnow", "illegal_recipe"};
    case ErrorCode::kModelReadsText:
    case ErrorCode::kModelReadsImages: return {400, error.reason, "messages", "unsupported_media"};
    case ErrorCode::kUnsupportedFormat:
    case ErrorCode::kDamagedFile:
    case ErrorCode::kLimitExceeded:
    case ErrorCode::kEmptyFile:
    case ErrorCode::kFileNotFound:
    case ErrorCode::kFileUnreadable:
    case ErrorCode::kMediaCrashed: return refusalOfLimit(error);
    case ErrorCode::kInvalidArgument: return {400, error.reason};
    default: return {500, "the engine failed: " + error.reason, {}, "engine_failed"};
  }
}

Ordered usageJson(const Finished& finished, const CacheReport* report, const std::vector<std::string>& ignored) {
  const TurnFigures& figures = finished.figures;
  const TokenCounts& tokens = figures.tokens;
  const std::int64_t prompt = std::max(tokens.thread_visual + tokens.thread_text, tokens.prompt);
  Ordered own = {{"method", figures.method},
                 {"retention", figures.retention},
                 {"achieved_retention", figures.achieved_retention},
                 {"kv_bytes", bytes_now(figures.kv_bytes)},
                 {"kv_bytes_full", full_bytes_now(figures.kv_bytes)},
                 {"visual_tokens", tokens.thread_visual},
                 {"unread_tokens", tokens.unread},
                 {"tokens_per_s", figures.tokens_per_s},
                 {"timings_ms", fields::written_fields<PlainForm>(figures.timings_ms)},
                 {"ignored", ignored}};
  if (report != nullptr) own["pinned_tokens"] = report->pinned.size();
  return {{"prompt_tokens", prompt},
          {"completion_tokens", tokens.generated},
          {"total_tokens", prompt + tokens.generated},
          {"prompt_tokens_details", {{"cached_tokens", prompt - tokens.prompt}}},
          {"completion_tokens_details", {{"reasoning_tokens", tokens.thought}, {"accepted_prediction_tokens", tokens.drafted}}},
          {"winnow", std::move(own)}};
}

const char* finishReasonOf(StopReason reason) { return reason == StopReason::kLength ? "length" : "stop"; }

Ordered completionJson(const AnswerName& name, const Ordered& of, const char* finishReason, Ordered usage) {
  Ordered answer = headOf(name, name.form == AnswerForm::kChat ? "chat.completion" : "text_completion");
  answer["choices"] = Ordered::array({choiceOf(of, finishReason)});
  answer["usage"] = std::move(usage);
  return answer;
}

std::string chunkText(const AnswerName& name, const Ordered& of, const char* finishReason) {
  Ordered chunk = chunkOf(name);
  chunk["choices"] = Ordered::array({choiceOf(of, finishReason)});
  return lineOf(chunk);
}

std::string usageChunkText(const AnswerName& name, const Ordered& usage) {
  Ordered chunk = chunkOf(name);
  chunk["choices"] = Ordered::array();
  chunk["usage"] = usage;
  return lineOf(chunk);
}

std::string errorChunkText(const ApiRefusal& refusal) {
  return lineOf(errorJson(refusal.status(), refusal.message(), refusal.param(), refusal.code()));
}

Ordered modelJson(const ModelInfo& model, std::int64_t createdS) {
  return {{"id", model.name},
          {"object", "model"},
          {"created", createdS},
          {"owned_by", "winnow"},
          {"max_model_len", model.context_tokens},
          {"winnow",
           {{"family", model.family}, {"device", model.device}, {"dtype", model.dtype}, {"kv_bytes_per_token", model.kv_bytes_per_token}}}};
}

Ordered speechModelJson(const std::string& name, std::int64_t createdS) {
  return {{"id", name}, {"object", "model"}, {"created", createdS}, {"owned_by", "winnow"}, {"winnow", {{"hears", true}}}};
}

Ordered plannedJson(const Planned& planned) { return fields::written_fields<PlainForm>(planned); }

}  // namespace winnow::app
