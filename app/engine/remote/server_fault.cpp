#include "app/engine/remote/server_fault.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "app/engine/remote/server_words.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostWords = 400;

std::string oneLine(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char each) { return each < 0x20 || each == 0x7f; }, ' ');
  while (text.ends_with(' ') || text.ends_with('.')) text.pop_back();
  return text.size() <= kMostWords ? text : cutText(std::move(text), kMostWords) + "…";
}

bool saysOneOf(const std::string& text, std::initializer_list<std::string_view> words) {
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(), [](unsigned char each) { return each >= 'A' && each <= 'Z' ? each + 32 : each; });
  return std::ranges::any_of(words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// Servers name it differently, and put it into "error", "detail" or nothing, as a text or as a list of them.
std::string wordsOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::string all;
    for (const Json& each : value) {
      const std::string words = wordsOf(each);
      if (!words.empty()) all += (all.empty() ? "" : "; ") + words;
      if (all.size() > kMostWords) break;
    }
    return all;
  }
  for (const char* holder : {"error", "errors", "detail", "message", "msg"}) {
    if (const Json* found = toldAt(value, {holder})) {
      if (std::string words = wordsOf(*found); !words.empty()) return words;
    }
  }
  return {};
}

std::optional<Json> jsonOf(const std::string& body) {
  try {
    return parse_json(body, "the answer", {.max_bytes = ServerConnection::kMostBodyBytes, .max_depth = 16, .max_elements = 100'000});
  } catch (const Exception&) {
    return std::nullopt;
  }
}

// The faults that several servers report by status 400 or 500, by their codes and words.
std::optional<ErrorCode> knownRefusal(const std::string& words, const std::string& code) {
  if (saysOneOf(code, {"context_length", "exceed_context"}) ||
      saysOneOf(words, {"context length", "context window", "context size", "maximum model length"}))
    return ErrorCode::kContextFull;
  if (saysOneOf(words, {"not a multimodal", "image input is not supported", "does not support image", "not support vision",
                        "at most 0 image", "cannot process image", "no vision"}))
    return ErrorCode::kModelReadsText;
  if (saysOneOf(words, {"at most 0 video", "does not support video", "video input is not supported"})) return ErrorCode::kModelReadsImages;
  if (saysOneOf(words, {"image(s) may be provided", "too many images", "too many image"})) return ErrorCode::kTooManyPictures;
  return std::nullopt;
}

ErrorCode codeOf(int status) {
  switch (status) {
    case 401: return ErrorCode::kServerKeyRefused;
    case 403: return ErrorCode::kServerForbids;
    case 404: return ErrorCode::kServerModelMissing;
    case 405: return ErrorCode::kServerNotOne;
    case 413: return ErrorCode::kServerTooLarge;
    case 408:
    case 429:
    case 503: return ErrorCode::kServerBusy;
    default:
      if (status >= 500) return ErrorCode::kServerFailed;
      return status >= 400 ? ErrorCode::kServerRefuses : ErrorCode::kServerNotOne;
  }
}

std::string codeWordIn(const Json& value) {
  const Json* error = toldAt(value, {"error"});
  const Json& holder = error != nullptr && error->is_object() ? *error : value;
  return textAt(holder, {"code"}) + " " + textAt(holder, {"type"});
}

std::string retryWords(const std::string& retryAfter) {
  const bool seconds = !retryAfter.empty() && retryAfter.size() < 7 &&
                       std::ranges::all_of(retryAfter, [](unsigned char each) { return each >= '0' && each <= '9'; });
  return seconds ? "; it asks to wait for " + retryAfter + " s" : "";
}

// The server's own words in one line, shortened: "error.message", "detail", "message", or the text itself. Empty: a page or nothing.
std::string wordsIn(const std::string& body, const std::optional<Json>& json) {
  if (json) return oneLine(wordsOf(*json));
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || body[begin] == '<' || body[begin] == '{') return {};
  return oneLine(body.substr(begin, kMostWords + 8));
}

}  // namespace

Error faultOf(const ServerAddress& address, const ServerReply& reply) {
  const std::string status = "status " + std::to_string(reply.status);
  const std::optional<Json> json = jsonOf(reply.body);
  const std::string words = wordsIn(reply.body, json);
  const std::string said = words.empty() ? "it answers with " + status : "it says (" + status + "): " + words;
  ErrorCode code = codeOf(reply.status);
  if (reply.status >= 300 && reply.status < 400) return {code, address.host(), "it leads to another address: " + oneLine(reply.location)};
  if (reply.status == 400 || reply.status == 413 || reply.status == 422 || reply.status == 500) {
    code = knownRefusal(words, json ? codeWordIn(*json) : std::string()).value_or(code);
  }
  if (code == ErrorCode::kServerModelMissing) {
    // A path that it does not have is told from a model that it does not have by saying something about a model.
    if (json && !address.model.empty() && saysOneOf(words, {"model"})) return {code, address.model, said};
    return {ErrorCode::kServerNotOne, address.host(), said};
  }
  return {code, address.host(), said + (code == ErrorCode::kServerBusy ? retryWords(reply.retryAfter) : "")};
}

Error faultInside(const ServerAddress& address, const Json& error) {
  const std::string words = oneLine(wordsOf(error));
  int status = 500;
  if (const Json* code = toldAt(error, {"code"}); code != nullptr && code->is_number_integer())
    status = static_cast<int>(std::clamp<std::int64_t>(code->get<std::int64_t>(), 400, 599));
  const ErrorCode code = knownRefusal(words, codeWordIn(error)).value_or(codeOf(status));
  const std::string said = words.empty() ? "it reports a fault without a word about it" : "it says: " + words;
  if (code == ErrorCode::kServerModelMissing) return {code, address.model, said};
  return {code, address.host(), said};
}

}  // namespace winnow::app
