#include "app/programs/server/api_server.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/programs/server/request_reader.h"
#include "app/programs/server/status_pages.h"

namespace winnow::app {
namespace {

using Answer = CountedReplies::Answer;

constexpr std::string_view kWirePath = "/winnow/v1/";
constexpr std::string_view kMediaPath = "media/";
constexpr std::string_view kVersion = "/v1";
constexpr std::string_view kWordsPath = "/v1/audio/transcriptions";

// True for a path of OpenAI's API asked by a client whose address was given without "/v1".
bool isWithoutVersion(std::string_view path) {
  constexpr std::string_view kPaths[] = {"/chat/completions", "/completions", "/embeddings",
                                         "/responses",        "/models",      "/audio/transcriptions"};
  return std::ranges::find(kPaths, path) != std::end(kPaths) || path.starts_with("/models/");
}

// A path that clients' APIs have and this server has not; null: it is none of theirs.
const char* lackingAt(std::string_view path) {
  if (path == "/v1/embeddings") return "this server gives no embeddings";
  if (path.starts_with("/v1/responses")) return "this server has no Responses API (/v1/responses): use /v1/chat/completions";
  if (path == "/v1/audio/translations" || path == "/v1/audio/speech")
    return "this server writes down what is said, and no more: use /v1/audio/transcriptions";
  if (path == "/v1/messages" || path == "/api/chat" || path == "/api/generate")
    return "this server speaks OpenAI's API alone: use /v1/chat/completions";
  return nullptr;
}

ApiRefusal noSuchEndpoint() { return {404, "there is no such endpoint", {}, "not_found"}; }

HttpReply wrongMethod(const char* right) {
  HttpReply reply = errorReply(405, std::string("this endpoint takes ") + right);
  reply.headers.emplace_back("Allow", right);
  return reply;
}

// Says to a page of another origin that it may read the answer. Threads: as the answer that it stands around.
class OriginAnswer final : public HttpAnswer {
 public:
  OriginAnswer(std::shared_ptr<HttpAnswer> answer, std::string origin) : m_answer(std::move(answer)), m_origin(std::move(origin)) {}
  void send(HttpReply reply) override { m_answer->send(allowed(std::move(reply))); }
  void begin(HttpReply head) override { m_answer->begin(allowed(std::move(head))); }
  void write(std::string piece) override { m_answer->write(std::move(piece)); }
  void end() override { m_answer->end(); }
  void whenGone(std::function<void()> tell) override { m_answer->whenGone(std::move(tell)); }

 private:
  HttpReply allowed(HttpReply reply) const {
    for (const auto& [name, value] : {std::pair{"Access-Control-Allow-Origin", m_origin.c_str()},
                                      std::pair{"Access-Control-Allow-Headers", "authorization, content-type"},
                                      std::pair{"Access-Control-Allow-Methods", "GET, POST"}, std::pair{"Vary", "Origin"}})
      reply.headers.emplace_back(name, value);
    return reply;
  }

  const std::shared_ptr<HttpAnswer> m_answer;
  const std::string m_origin;
};

}  // namespace

// Joins the parts, and routes each request to one of them on the listener's thread.
class ApiServer::Work {
 public:
  Work(ApiServer& server, EngineHost& engine, const MediaReader& media, const ApiOptions& options)
      : m_engine(engine),
        m_options(options),
        m_store(options.storeFolder, options.storedBytes),
        m_sounds(m_store, options.hearing),
        m_answers(engine, m_replies, options.keptBytes),
        m_line(engine, options.mostWaiting, options.atOnce),
        m_wire({engine, m_line, m_mailbox}, m_store, options.keptBytes),
        m_pages(m_options, {m_model, m_replies, m_line, m_sounds}),
        m_reader(m_options, m_store, media, {m_model, m_replies, m_line, m_mailbox, m_answers, m_sounds, m_wire}),
        m_listener(
            options.address, options.port, options.limits, [this](const HttpRequest& request) { return gate(request); },
            [this](HttpRequest request, Answer answer) { route(std::move(request), std::move(answer)); }) {
    connect(&m_line, &AnswerLine::changed, &server, &ApiServer::changed);
  }

  // Questions to the earlier model, and what it has read, go with it.
  void setModel(const std::optional<ModelInfo>& model) {
    m_model.set(model);
    m_line.clear(modelChanged());
    for (const ConversationId conversation : m_answers.forgetAll()) m_engine.post(ForgetConversation{conversation});
    for (const ConversationId conversation : m_wire.forgetAll()) m_engine.post(ForgetConversation{conversation});
  }
  std::uint16_t port() const { return m_listener.port(); }
  int requests() const { return m_reader.requests(); }
  const AnswerLine& line() const { return m_line; }

 private:
  std::optional<HttpReply> gate(const HttpRequest& request) {
    std::optional<HttpReply> refusal = refusedAccess(request, m_options.access);
    if (refusal) m_replies.answered(refusal->status);
    return refusal;
  }

  void route(HttpRequest request, Answer answer) {
    if (!request.origin.empty()) answer = std::make_shared<OriginAnswer>(std::move(answer), request.origin);
    if (isWithoutVersion(request.path)) request.path.insert(0, kVersion);
    const std::string& path = request.path;
    if (request.method == "OPTIONS") return m_replies.reply(answer, {204, "", "", {}});
    if (path.starts_with(kWirePath)) return routeWire(std::move(request), answer);
    if (const char* const lacking = lackingAt(path)) return m_replies.refuse(answer, {404, lacking, {}, "not_found"});
    const bool takesBody = path == kWordsPath || RequestReader::takes(path);
    if (!takesBody && !StatusPages::has(path)) return m_replies.refuse(answer, noSuchEndpoint());
    const char* const method = takesBody ? "POST" : "GET";
    if (request.method != method) return m_replies.reply(answer, wrongMethod(method));
    if (path == kWordsPath) return m_reader.takeSound(std::move(request), answer);
    if (takesBody) return m_reader.take(std::move(request), answer);
    m_replies.orRefuse(answer, [&] { m_replies.reply(answer, m_pages.at(path)); });
  }

  // Routes what another machine's Winnow asks.
  void routeWire(HttpRequest request, const Answer& answer) {
    const std::string path = request.path.substr(kWirePath.size());
    if (path == "requests" && request.method == "POST") return m_reader.takeWire(std::move(request), answer);
    if (path == "stop" && request.method == "POST") {
      m_mailbox.post([this, request = std::move(request)] { m_wire.stop(request); });
      return m_replies.reply(answer, {204, "", "", {}});
    }
    if (!path.starts_with(kMediaPath) || (request.method != "PUT" && request.method != "HEAD"))
      return m_replies.refuse(answer, noSuchEndpoint());
    m_reader.takeMedia(path.substr(kMediaPath.size()), std::move(request), answer);
  }

  EngineHost& m_engine;
  const ApiOptions m_options;
  LoadedModel m_model;
  CountedReplies m_replies;
  MediaStore m_store;
  ServedSounds m_sounds;
  ServedAnswers m_answers;
  AnswerLine m_line;
  Mailbox m_mailbox;
  WireService m_wire;
  const StatusPages m_pages;
  RequestReader m_reader;
  HttpListener m_listener;  // last: closes first, so that nothing new comes
};

ApiServer::ApiServer(EngineHost& engine, const MediaReader& reader, const ApiOptions& options, QObject* parent)
    : QObject(parent), m_work(std::make_unique<Work>(*this, engine, reader, options)) {}

ApiServer::~ApiServer() = default;

void ApiServer::setModel(const std::optional<ModelInfo>& model) { m_work->setModel(model); }
std::uint16_t ApiServer::port() const { return m_work->port(); }
int ApiServer::requests() const { return m_work->requests(); }
int ApiServer::answered() const { return m_work->line().answered(); }
int ApiServer::waiting() const { return m_work->line().waiting(); }
bool ApiServer::isAnswering() const { return m_work->line().isAnswering(); }

}  // namespace winnow::app
