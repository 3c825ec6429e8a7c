#include "app/server/api_server.h"

#include <QDate>
#include <QDateTime>
#include <QRandomGenerator>
#include <QUrlQuery>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/server/answer_line.h"
#include "app/server/answer_writer.h"
#include "app/server/api_description.h"
#include "app/server/api_json.h"
#include "app/server/completion_request.h"
#include "app/server/request_media.h"
#include "app/server/served_threads.h"
#include "app/server/token_request.h"
#include "app/server/wire_service.h"
#include "app/threads/mailbox.h"
#include "app/threads/worker_thread.h"
#include "engine/messages/wire.h"

namespace winnow::app {
namespace {

using Ordered = nlohmann::ordered_json;
using Answer = std::shared_ptr<HttpAnswer>;

constexpr int kRetryAfterS = 5;
constexpr std::string_view kWirePath = "/winnow/v1/";
constexpr std::string_view kMediaPath = "media/";
constexpr std::string_view kAsking[] = {"/v1/chat/completions", "/v1/completions", "/winnow/plan", "/tokenize", "/detokenize"};
constexpr std::string_view kTelling[] = {"/", "/health", "/props", "/metrics", "/v1/models", "/openapi.json"};
constexpr std::string_view kModelNames[] = {"", "default", "winnow"};  // that name no model

// Completions of plain text go on from nothing, and nothing goes on from them.
constexpr ConversationId kPlainConversation = ConversationId{1} << 63;

std::string newId(AnswerForm form) {
  return (form == AnswerForm::kChat ? "chatcmpl-" : "cmpl-") + QString::number(QRandomGenerator::system()->generate64(), 36).toStdString() +
         QString::number(QRandomGenerator::system()->generate64(), 36).toStdString();
}

// Callers that name no limit expect an answer to its end, and know no "go on".
int longestUnasked(const ModelInfo& model) { return static_cast<int>(std::clamp<std::int64_t>(model.context_tokens / 4, 256, 2048)); }

// Requests are counted by what they were answered with.
class Counters {
 public:
  void answered(int status) { add(m_byStatus, status); }
  void tokens(std::int64_t prompt, std::int64_t generated) {
    const std::lock_guard lock(m_mutex);
    m_prompt += prompt;
    m_generated += generated;
  }
  void kept(std::int64_t bytes) { m_kept = bytes; }

  std::string text(std::size_t waiting) const {
    const std::lock_guard lock(m_mutex);
    std::string text = "# TYPE winnow_requests_total counter\n";
    for (const auto& [status, count] : m_byStatus)
      text += "winnow_requests_total{status=\"" + std::to_string(status) + "\"} " + std::to_string(count) + "\n";
    const auto add = [&](const char* name, const char* type, std::int64_t value) {
      text += std::string("# TYPE ") + name + " " + type + "\n" + name + " " + std::to_string(value) + "\n";
    };
    add("winnow_prompt_tokens_total", "counter", m_prompt);
    add("winnow_generated_tokens_total", "counter", m_generated);
    add("winnow_requests_waiting", "gauge", static_cast<std::int64_t>(waiting));
    add("winnow_kept_cache_bytes", "gauge", m_kept);
    return text;
  }

 private:
  void add(std::map<int, std::int64_t>& counts, int key) {
    const std::lock_guard lock(m_mutex);
    ++counts[key];
  }

  mutable std::mutex m_mutex;  // guards the members below
  std::map<int, std::int64_t> m_byStatus;
  std::int64_t m_prompt = 0;
  std::int64_t m_generated = 0;
  std::atomic<std::int64_t> m_kept{0};
};

}  // namespace

class ApiServer::Work {
 public:
  Work(ApiServer& server, EngineHost& engine, const MediaReader& media, const ApiOptions& options)
      : m_server(server),
        m_engine(engine),
        m_options(options),
        m_startedS(QDateTime::currentSecsSinceEpoch()),
        m_store(options.storeFolder, options.storedBytes),
        m_media(m_store, options.mediaFolders, options.remoteMedia),
        m_mediaReader(media),
        m_threads(kFirstServedConversation, options.keptBytes),
        m_line(engine, options.mostWaiting),
        m_wire({engine, m_line, m_mailbox}, m_store, options.keptBytes),
        m_reader("requests"),
        m_listener(
            options.address, options.port, options.limits, [this](const HttpRequest& request) { return gate(request); },
            [this](HttpRequest request, Answer answer) { route(std::move(request), std::move(answer)); }) {
    connect(&m_line, &AnswerLine::changed, &server, &ApiServer::changed);
  }

  ~Work() { m_closing = true; }

  // What was asked of the model of before, and what it has read, goes with it.
  void setModel(const std::optional<ModelInfo>& model) {
    {
      const std::lock_guard lock(m_mutex);
      m_model = model;
    }
    m_line.clear(modelChanged());
    for (const ConversationId conversation : m_threads.forgetAll()) m_engine.post(ForgetConversation{conversation});
    for (const ConversationId conversation : m_wire.forgetAll()) m_engine.post(ForgetConversation{conversation});
  }
  std::uint16_t port() const { return m_listener.port(); }
  int requests() const { return m_requests; }
  const AnswerLine& line() const { return m_line; }

 private:
  // One request for an answer, from its bytes to its last word.
  struct Asked final : LineRequest {
    Asked(Work& owner, ChatRequest request, AnswerName name, const Answer& answer)
        : work(owner),
          chat(std::move(request)),
          writer(std::move(name), chat, answer, [this](int status) { work.m_counters.answered(status); }) {}
    RequestBody begin() override { return work.begin(*this); }
    void hear(const Event& event) override { work.hear(*this, event); }
    void turnAway(const ApiRefusal& refusal) override { writer.fail(refusal); }

    Work& work;
    ChatRequest chat;
    AnswerWriter writer;
    bool planOnly = false;
    std::optional<CacheReport> report;
  };

  // One request for tokens, or for their text.
  struct AskedTokens final : LineRequest {
    AskedTokens(Work& owner, TokenRequest request, std::int64_t context, Answer asker)
        : work(owner), tokens(std::move(request)), contextTokens(context), answer(std::move(asker)) {}
    RequestBody begin() override { return tokens.body; }
    void hear(const Event& event) override {
      if (const auto* told = std::get_if<Tokenized>(&event.body))
        work.reply(answer, jsonReply(tokenizedJson(tokens, *told, contextTokens)));
      if (const auto* failed = std::get_if<Failed>(&event.body)) work.refuse(answer, refusalOf(failed->error));
      if (std::holds_alternative<Finished>(event.body)) turnAway(modelChanged());
    }
    void turnAway(const ApiRefusal& refusal) override { work.refuse(answer, refusal); }

    Work& work;
    const TokenRequest tokens;
    const std::int64_t contextTokens;
    const Answer answer;
  };

  // What was read of a request, for the engine host's thread.
  struct ReadRequest {
    AnswerLine::Place place;
    Answer answer;
    std::string model;
    bool counts = false;  // among those that were asked for an answer
  };

  // On the listener's thread.
  std::optional<HttpReply> gate(const HttpRequest& request) {
    std::optional<HttpReply> refusal = refusedAccess(request, m_options.access);
    if (refusal) m_counters.answered(refusal->status);
    return refusal;
  }

  void reply(const Answer& answer, HttpReply reply) {
    m_counters.answered(reply.status);
    answer->send(std::move(reply));
  }
  void refuse(const Answer& answer, const ApiRefusal& refusal) { reply(answer, errorReply(refusal)); }

  std::optional<ModelInfo> model() const {
    const std::lock_guard lock(m_mutex);
    return m_model;
  }

  void route(HttpRequest request, Answer answer) {
    if (!request.origin.empty()) answer = std::make_shared<ForOrigin>(std::move(answer), request.origin);
    const std::string& path = request.path;
    if (request.method == "OPTIONS") return reply(answer, {204, "", "", {}});
    if (path.starts_with(kWirePath)) return routeWire(std::move(request), answer);
    const bool asks = std::ranges::find(kAsking, path) != std::end(kAsking);
    const bool tells = std::ranges::find(kTelling, path) != std::end(kTelling) || path.starts_with("/v1/models/");
    if (path == "/v1/embeddings") return refuse(answer, {404, "this server gives no embeddings", {}, "not_found"});
    if (!asks && !tells) return refuse(answer, {404, "there is no such endpoint", {}, "not_found"});
    if (request.method != (asks ? "POST" : "GET")) {
      HttpReply wrong = errorReply(405, std::string("this endpoint takes ") + (asks ? "POST" : "GET"));
      wrong.headers.emplace_back("Allow", asks ? "POST" : "GET");
      return reply(answer, std::move(wrong));
    }
    if (asks) return take(std::move(request), std::move(answer));
    tell(path, answer);
  }

  // What another machine's Winnow asks.
  void routeWire(HttpRequest request, const Answer& answer) {
    const std::string path = request.path.substr(kWirePath.size());
    const bool media = path.starts_with(kMediaPath);
    if (path == "requests" && request.method == "POST") return takeWire(std::move(request), answer);
    if (path == "stop" && request.method == "POST") {
      m_mailbox.post([this, session = request.session, id = queryNumber(request, "id")] { m_wire.stop(session, id); });
      return reply(answer, {204, "", "", {}});
    }
    if (!media || (request.method != "PUT" && request.method != "HEAD"))
      return refuse(answer, {404, "there is no such endpoint", {}, "not_found"});
    m_reader.post([this, sha256 = path.substr(kMediaPath.size()), piece = std::make_shared<HttpRequest>(std::move(request)), answer] {
      orRefuse(answer, [&] { reply(answer, piece->method == "HEAD" ? m_wire.has(sha256) : m_wire.take(sha256, *piece)); });
    });
  }

  static RequestId queryNumber(const HttpRequest& request, const char* name) {
    return QUrlQuery(QString::fromStdString(request.query)).queryItemValue(QLatin1String(name)).toULongLong();
  }

  // Says to a page that it may read the answer.
  class ForOrigin final : public HttpAnswer {
   public:
    ForOrigin(Answer answer, std::string origin) : m_answer(std::move(answer)), m_origin(std::move(origin)) {}
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

    const Answer m_answer;
    const std::string m_origin;
  };

  void tell(const std::string& path, const Answer& answer) {
    if (path == "/") return reply(answer, {200, "text/plain", "Winnow. The API is at /v1: /v1/models, /v1/chat/completions\n", {}});
    if (path == "/metrics") return reply(answer, {200, "text/plain; version=0.0.4", m_counters.text(m_line.inLine()), {}});
    if (path == "/openapi.json") return reply(answer, {200, "application/json", apiDescription(m_options.version), {}});
    const std::optional<ModelInfo> model = this->model();
    if (path == "/health") {
      if (!model) return refuse(answer, {503, "no model is loaded", {}, "no_model"});
      return reply(answer, jsonReply({{"status", "ok"}}));
    }
    if (path == "/v1/models") {
      Ordered list = Ordered::array();
      if (model) list.push_back(modelJson(*model, m_startedS));
      return reply(answer, jsonReply({{"object", "list"}, {"data", std::move(list)}}));
    }
    if (!model) return refuse(answer, {503, "no model is loaded", {}, "no_model"});
    if (path == "/props") return reply(answer, jsonReply(props(*model)));
    const std::string name =
        QByteArray::fromPercentEncoding(QByteArray::fromStdString(path.substr(std::string_view("/v1/models/").size()))).toStdString();
    if (name != model->name) return refuse(answer, otherModel(*model));
    reply(answer, jsonReply(modelJson(*model, m_startedS)));
  }

  Ordered props(const ModelInfo& model) const {
    const RecipeSpec& recipe = m_options.defaults.recipe;
    return {{"model_path", model.name},
            {"total_slots", 1},
            {"default_generation_settings", {{"n_ctx", model.context_tokens}}},
            {"modalities", {{"vision", model.traits.sees}, {"video", model.traits.sees && model.traits.reads_videos}, {"audio", false}}},
            {"build_info", "winnow " + m_options.version},
            {"winnow",
             {{"version", m_options.version},
              {"wire", kWireVersion},
              {"model", modelMark(model)},
              {"method", recipe.method},
              {"retention", recipe.retention}}}};
  }

  static ApiRefusal otherModel(const ModelInfo& model) {
    return {404, "there is no such model here; \"" + model.name + "\" is loaded", "model", "model_not_found"};
  }

  void refuseBusy(const Answer& answer) {
    HttpReply later = errorReply(429, "too many requests are waiting", {}, "queue_full");
    later.headers.emplace_back("Retry-After", std::to_string(kRetryAfterS));
    reply(answer, std::move(later));
  }

  // From the listener's thread to the reader's: a body may hold hundreds of megabytes of base64.
  void take(HttpRequest request, Answer answer) {
    if (!m_line.enter()) return refuseBusy(answer);
    m_reader.post([this, request = std::make_shared<HttpRequest>(std::move(request)), answer = std::move(answer)]() mutable {
      std::optional<ReadRequest> read;
      if (!m_closing) read = readOrRefuse(*request, answer);
      request.reset();
      if (!read) return m_line.leave();
      m_mailbox.post([this, read = *std::move(read)] { enqueue(read); });
    });
  }

  // Nothing: it was refused.
  std::optional<ReadRequest> readOrRefuse(const HttpRequest& request, const Answer& answer) {
    std::optional<ReadRequest> read;
    orRefuse(answer, [&] {
      const ModelInfo model = loadedModel();
      read = request.path.ends_with("tokenize") ? readTokens(request, model, answer) : readChat(request, model, answer);
    });
    return read;
  }

  ModelInfo loadedModel() const {
    const std::optional<ModelInfo> model = this->model();
    if (!model) throw ApiRefusal(503, "no model is loaded", {}, "no_model");
    return *model;
  }

  void takeWire(HttpRequest request, const Answer& answer) {
    if (!m_line.enter()) return refuseBusy(answer);
    m_reader.post([this, request = std::make_shared<HttpRequest>(std::move(request)), answer] {
      bool read = false;
      if (!m_closing)
        orRefuse(answer, [&] {
          readWire(*request, answer);
          read = true;
        });
      if (!read) m_line.leave();
    });
  }

  void readWire(const HttpRequest& request, const Answer& answer) {
    m_mailbox.post([this, asked = m_wire.read(request, answer, loadedModel())] {
      m_counters.answered(200);
      m_wire.enqueue(asked, model());
    });
  }

  // A step of the reader: what it throws is the answer.
  template <class Step>
  void orRefuse(const Answer& answer, const Step& step) {
    try {
      step();
    } catch (const ApiRefusal& refusal) {
      refuse(answer, refusal);
    } catch (const Exception& exception) {
      refuse(answer, refusalOf(exception.error()));
    } catch (const std::exception& exception) {
      refuse(answer, {500, std::string("internal error: ") + exception.what()});
    }
  }

  static void requireModel(const std::string& named, const ModelInfo& model) {
    if (named != model.name && std::ranges::find(kModelNames, named) == std::end(kModelNames)) throw otherModel(model);
  }

  ReadRequest readTokens(const HttpRequest& request, const ModelInfo& model, const Answer& answer) {
    TokenRequest tokens =
        request.path == "/detokenize" ? detokenizeRequestOf(request.body) : tokenizeRequestOf(request.body, m_media, m_mediaReader);
    requireModel(tokens.model, model);
    return {std::make_shared<AskedTokens>(*this, std::move(tokens), model.context_tokens, answer), answer, model.name};
  }

  ReadRequest readChat(const HttpRequest& request, const ModelInfo& model, const Answer& answer) {
    const auto came = std::chrono::steady_clock::now();
    ChatRequest chat = request.path == "/v1/completions" ? completionRequestOf(request.body, m_options.defaults)
                                                         : chatRequestOf(request.body, m_options.defaults, m_media, m_mediaReader);
    requireModel(chat.model, model);
    Turn& turn = chat.turn;
    if (!chat.lengthGiven && !m_options.lengthGiven) turn.sampling.max_new_tokens = longestUnasked(model);
    turn.prompt.day = QDate::currentDate().toString(Qt::ISODate).toStdString();
    turn.asked = came;
    const AnswerName name{newId(chat.form), QDateTime::currentSecsSinceEpoch(), model.name, chat.form};
    auto asked = std::make_shared<Asked>(*this, std::move(chat), name, answer);
    asked->planOnly = request.path == "/winnow/plan";
    return {asked, answer, model.name, !asked->planOnly};
  }

  // On the engine host's thread from here on.
  void enqueue(const ReadRequest& read) {
    const std::optional<ModelInfo> model = this->model();
    if (!model || model->name != read.model) {  // it was changed while this was read
      m_line.leave();
      return refuse(read.answer, modelChanged());
    }
    if (read.counts) ++m_requests;
    read.answer->whenGone([this, place = read.place] { m_mailbox.post([this, place] { m_line.gone(place); }); });
    m_line.push(read.place);
  }

  RequestBody begin(Asked& asked) {
    Turn& turn = asked.chat.turn;
    if (asked.chat.form == AnswerForm::kText)
      turn.conversation = kPlainConversation;
    else
      m_threads.choose(turn);
    return asked.planOnly ? RequestBody(Plan{turn}) : RequestBody(turn);
  }

  void hear(Asked& asked, const Event& event) {
    if (const auto* report = std::get_if<CacheReport>(&event.body)) asked.report = *report;
    if (const auto* token = std::get_if<TokenSampled>(&event.body)) asked.writer.hear(*token);
    if (const auto* text = std::get_if<TextDelta>(&event.body)) asked.writer.hear(*text);
    if (const auto* finished = std::get_if<Finished>(&event.body)) finish(asked, *finished);
    if (const auto* planned = std::get_if<Planned>(&event.body)) asked.writer.send(jsonReply(plannedJson(*planned)));
    if (const auto* failed = std::get_if<Failed>(&event.body)) fail(asked, refusalOf(failed->error));
    if (ends_request(event)) ended(asked);
  }

  void finish(Asked& asked, const Finished& finished) {
    if (finished.restored) return fail(asked, modelChanged());
    m_threads.answered(asked.chat.turn, finished.answer, finished.figures.kv_bytes.allocated);
    m_counters.tokens(finished.figures.tokens.prompt, finished.figures.tokens.generated);
    asked.writer.finish(finished, usageJson(finished, asked.report ? &*asked.report : nullptr, asked.chat.ignored));
  }

  void fail(Asked& asked, const ApiRefusal& refusal) {
    m_threads.failed(asked.chat.turn.conversation);
    asked.writer.fail(refusal);
  }

  void ended(const Asked& asked) {
    const ConversationId conversation = asked.chat.turn.conversation;
    if (asked.planOnly) m_threads.failed(conversation);
    if (conversation == kPlainConversation) m_engine.post(ForgetConversation{conversation});
    for (const ConversationId old : m_threads.tooMany()) m_engine.post(ForgetConversation{old});
    m_counters.kept(m_threads.bytes());
  }

  ApiServer& m_server;
  EngineHost& m_engine;
  const ApiOptions m_options;
  const std::int64_t m_startedS;
  Counters m_counters;
  std::atomic<bool> m_closing{false};

  mutable std::mutex m_mutex;  // guards m_model
  std::optional<ModelInfo> m_model;

  // Of the reader's thread.
  MediaStore m_store;
  RequestMedia m_media;
  const MediaReader& m_mediaReader;

  // Of the engine host's thread.
  ServedThreads m_threads;
  AnswerLine m_line;
  Mailbox m_mailbox;
  WireService m_wire;
  int m_requests = 0;

  WorkerThread m_reader;
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
