#include "app/engine/remote/server_traits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/engine/remote/server_fault.h"
#include "app/engine/remote/server_words.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostModels = 10'000;
constexpr std::size_t kMostNameBytes = 1024;
constexpr std::int64_t kMostContext = std::int64_t{1} << 32;
constexpr std::int64_t kMostOpenAiPictures = 500;

constexpr std::pair<ServerKind, const char*> kNames[] = {{ServerKind::kOther, "a server"},
                                                         {ServerKind::kVllm, "vLLM"},
                                                         {ServerKind::kSglang, "SGLang"},
                                                         {ServerKind::kLlamaServer, "llama-server"},
                                                         {ServerKind::kLlamaCppPython, "llama-cpp-python"},
                                                         {ServerKind::kOllama, "Ollama"},
                                                         {ServerKind::kLmStudio, "LM Studio"},
                                                         {ServerKind::kOpenAi, "OpenAI"},
                                                         {ServerKind::kWinnow, "Winnow"}};

// The owners that they name in /v1/models.
constexpr std::pair<const char*, ServerKind> kOwners[] = {{"vllm", ServerKind::kVllm},
                                                          {"sglang", ServerKind::kSglang},
                                                          {"llamacpp", ServerKind::kLlamaServer},
                                                          {"me", ServerKind::kLlamaCppPython},
                                                          {"library", ServerKind::kOllama},
                                                          {"organization_owner", ServerKind::kLmStudio},
                                                          {"organization-owner", ServerKind::kLmStudio},
                                                          {"openai", ServerKind::kOpenAi},
                                                          {"system", ServerKind::kOpenAi},
                                                          {"winnow", ServerKind::kWinnow}};

Json parsedAnswer(const ServerAddress& address, const ServerReply& reply) {
  try {
    return parse_json(reply.body, "the answer", {.max_bytes = ServerConnection::kMostBodyBytes, .max_depth = 32, .max_elements = 400'000});
  } catch (const Exception& problem) {
    const std::size_t begin = reply.body.find_first_not_of(" \t\r\n");
    const bool page = reply.type == "text/html" || (begin != std::string::npos && reply.body[begin] == '<');
    if (page) throw Exception(ErrorCode::kServerNotOne, address.host(), "it answers with a web page");
    throw Exception(ErrorCode::kServerNotUnderstood, address.host(), "its answer is no JSON: " + problem.error().reason);
  }
}

// Null where the kind of server does not have it after all.
Json optionalAnswer(ServerConnection& connection, const std::string& url, const std::optional<std::string>& body,
                    const InterruptToken& interrupt) {
  try {
    const ServerReply reply = connection.ask(url, body, interrupt);
    return reply.status == 200 ? parsedAnswer(connection.address(), reply) : Json();
  } catch (const Exception&) {
    return {};
  }
}

std::int64_t countAt(const Json& value, std::initializer_list<const char*> path) {
  const Json* found = toldAt(value, path);
  if (found == nullptr || !found->is_number()) return 0;
  const double number = found->get<double>();
  return number > 0.0 && number < static_cast<double>(kMostContext) ? static_cast<std::int64_t>(number) : 0;
}

std::optional<bool> yesAt(const Json& value, std::initializer_list<const char*> path) {
  const Json* found = toldAt(value, path);
  return found != nullptr && found->is_boolean() ? std::optional(found->get<bool>()) : std::nullopt;
}

bool lists(const Json& value, const char* name, std::string_view word) {
  const Json* list = toldAt(value, {name});
  return list != nullptr && list->is_array() && std::ranges::any_of(*list, [word](const Json& each) { return each == word; });
}

std::string idOf(const Json& row) { return cutText(textAt(row, {"id"}), kMostNameBytes); }

// A name may steer no terminal.
bool isName(const std::string& text) {
  return !text.empty() && std::ranges::none_of(text, [](unsigned char each) { return each < 0x20 || each == 0x7f; });
}

// The rows of /v1/models that have a name.
Json rowsAt(ServerConnection& connection, const InterruptToken& interrupt) {
  const ServerAddress& address = connection.address();
  const ServerReply reply = connection.ask(address.url + "/models", std::nullopt, interrupt);
  if (reply.status != 200) throw Exception(faultOf(address, reply));
  const Json answer = parsedAnswer(address, reply);
  const Json* rows = toldAt(answer, {"data"});
  if (rows == nullptr) rows = toldAt(answer, {"models"});
  if (rows == nullptr || !rows->is_array()) throw Exception(ErrorCode::kServerNotOne, address.host(), "it lists no models");
  Json named = Json::array();
  for (const Json& row : *rows) {
    if (named.size() < kMostModels && isName(idOf(row))) named.push_back(row);
  }
  return named;
}

// An address that a person typed without /v1, and that leads to no such list, is tried with it.
Json rowsOf(ServerConnection& connection, const InterruptToken& interrupt) {
  const std::string typed = connection.address().url;
  try {
    return rowsAt(connection, interrupt);
  } catch (const Exception& first) {
    if (first.error().code != ErrorCode::kServerNotOne || typed.ends_with("/v1")) throw;
    connection.moveTo(typed + "/v1");
    try {
      return rowsAt(connection, interrupt);
    } catch (const Exception& second) {
      if (second.error().code != ErrorCode::kServerNotOne) throw;
    }
    connection.moveTo(typed);
    throw;
  }
}

void askLlamaServer(ServerTraits& traits, ServerConnection& connection, const InterruptToken& interrupt) {
  const Json props = optionalAnswer(connection, connection.address().root() + "/props", std::nullopt, interrupt);
  traits.sees = yesAt(props, {"modalities", "vision"}).value_or(false);
  if (const std::int64_t context = countAt(props, {"default_generation_settings", "n_ctx"})) traits.contextTokens = context;
  if (toldAt(props, {"winnow"}) != nullptr) traits.kind = ServerKind::kWinnow;
  traits.takesVideos = traits.kind == ServerKind::kWinnow && yesAt(props, {"modalities", "video"}).value_or(false);
}

void askOllama(ServerTraits& traits, ServerConnection& connection, const InterruptToken& interrupt) {
  const std::string body = Json{{"model", traits.model}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  const Json shown = optionalAnswer(connection, connection.address().root() + "/api/show", body, interrupt);
  if (shown.is_null()) return;
  traits.sees = lists(shown, "capabilities", "vision");
  traits.thinks = lists(shown, "capabilities", "thinking");
}

void askLmStudio(ServerTraits& traits, ServerConnection& connection, const InterruptToken& interrupt) {
  const Json shown = optionalAnswer(connection, connection.address().root() + "/api/v0/models/" + traits.model, std::nullopt, interrupt);
  if (shown.is_null()) return;
  traits.sees = textAt(shown, {"type"}) == "vlm";
  traits.contextTokens = countAt(shown, {"loaded_context_length"});
}

void askSglang(ServerTraits& traits, ServerConnection& connection, const InterruptToken& interrupt) {
  const Json info = optionalAnswer(connection, connection.address().root() + "/get_model_info", std::nullopt, interrupt);
  traits.sees = yesAt(info, {"has_image_understanding"}).value_or(true);
  traits.takesVideos = traits.sees;
  traits.choosesFrames = traits.continues = true;
}

void askItsOwn(ServerTraits& traits, ServerConnection& connection, const InterruptToken& interrupt) {
  switch (traits.kind) {
    case ServerKind::kVllm: traits.takesVideos = traits.continues = true; break;
    case ServerKind::kSglang: return askSglang(traits, connection, interrupt);
    case ServerKind::kLlamaServer:
    case ServerKind::kWinnow: return askLlamaServer(traits, connection, interrupt);
    case ServerKind::kOllama: return askOllama(traits, connection, interrupt);
    case ServerKind::kLmStudio: return askLmStudio(traits, connection, interrupt);
    case ServerKind::kOpenAi: traits.mostPictures = kMostOpenAiPictures; break;
    case ServerKind::kLlamaCppPython:
    case ServerKind::kOther: break;
  }
}

}  // namespace

const char* nameOf(ServerKind kind) {
  for (const auto& [each, name] : kNames) {
    if (each == kind) return name;
  }
  return kNames[0].second;
}

std::vector<std::string> modelsOf(ServerConnection& connection, const InterruptToken& interrupt) {
  std::vector<std::string> names;
  for (const Json& row : rowsOf(connection, interrupt)) names.push_back(idOf(row));
  return names;
}

ServerTraits traitsOf(ServerConnection& connection, const InterruptToken& interrupt) {
  const ServerAddress& address = connection.address();
  const Json rows = rowsOf(connection, interrupt);
  const auto row =
      address.model.empty() ? rows.begin() : std::ranges::find_if(rows, [&](const Json& each) { return idOf(each) == address.model; });
  if (row == rows.end()) {
    if (address.model.empty()) throw Exception(ErrorCode::kServerModelMissing, address.host(), "it lists no models");
    throw Exception(ErrorCode::kServerModelMissing, address.model, "it is not among the " + std::to_string(rows.size()) + " that it lists");
  }
  ServerTraits traits{.model = idOf(*row)};
  for (const auto& [owner, kind] : kOwners) {
    if (textAt(*row, {"owned_by"}) == owner) traits.kind = kind;
  }
  traits.contextTokens = countAt(*row, {"max_model_len"});
  if (traits.contextTokens == 0) traits.contextTokens = countAt(*row, {"meta", "n_ctx_train"});
  askItsOwn(traits, connection, interrupt);
  return traits;
}

}  // namespace winnow::app
