#include "app/server/api_server.h"

#include <QDate>
#include <QDateTime>
#include <QRandomGenerator>
#include <QThreadPool>
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
#include "app/server/remote_media.h"
#include "app/server/request_media.h"
#include "app/server/served_threads.h"
#include "app/server/token_request.h"
#include "app/server/wire_service.h"
#include "app/threads/mailbox.h"
#include "app/threads/worker_thread.h"
#include "engine/base/interrupt.h"
#include "engine/messages/wire.h"
#include "engine/metrics/kept_figures.h"

namespace winnow::app {
namespace {

using Ordered = nlohmann::ordered_json;
using Answer = std::shared_ptr<HttpAnswer>;

using Clock = std::chrono::steady_clock;

constexpr int kRetryAfterS = 5;
constexpr int kMostFetching = 16;  // requests that media are fetched for at a time
constexpr std::string_view kWirePath = "/winnow/v1/";
constexpr std::string_view kMediaPath = "media/";
constexpr std::string_view kModelPath = "/v1/models/";
constexpr std::string_view kVersion = "/v1";
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
      : m_engine(engine),
        m_options(options),
        m_startedS(QDateTime::currentSecsSinceEpoch()),
        m_store(options.storeFolder, options.storedBytes),
        m_media(m_store, options.mediaFolders,
                options.remoteMedia
                    ? RequestMedia::Fetch([](const std::string&, const std::string&) -> std::vector<std::uint8_t> { throw MustFetch(); })
                    : RequestMedia::Fetch()),
        m_mediaReader(media),
        m_threads(kFirstServedConversation, options.keptBytes),
        m_line(engine, options.mostWaiting),
        m_wire({engine, m_line, m_mailbox}, m_store, options.keptBytes),
        m_reader("requests"),
        m_listener(
            options.address, options.port, options.limits, [this](const HttpRequest& request) { return gate(request); },
            [this](HttpRequest request, Answer answer) { route(std::move(request), std::move(answer)); }) {
    m_fetchers.setMaxThreadCount(kMostFetching);
    connect(&m_line, &AnswerLine::changed, &server, &ApiServer::changed);
  }

  ~Work() { m_closing.request_cancel(); }

  // Questions to the earlier model, and what it has read, go with it.
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
    RequestBody begin() override { return tokens.chat ? work.promptOf(*tokens.chat) : tokens.body; }
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

  // Thrown out of reading a request that names media of the network: whoever reads it must be able to wait.
  struct MustFetch {};

  struct Arriving {
    std::shared_ptr<const HttpRequest> request;
    Answer answer;
    std::chrono::steady_clock::time_point at;
  };

  // A request that its reader reads.
  struct Arrived {
    const HttpRequest& request;
    const Answer& answer;
    ModelInfo model;
    std::chrono::steady_clock::time_point at;
    const RequestMedia& media;
  };
  // Gives what is to be done with it on the engine host's thread, once it has entered the line.
  using Read = Mailbox::Letter (Work::*)(const Arrived& arrived);
  using Tell = HttpReply (Work::*)(const std::string& path) const;

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
    if (isWithoutVersion(request.path)) request.path.insert(0, kVersion);
    const std::string& path = request.path;
    if (request.method == "OPTIONS") return reply(answer, {204, "", "", {}});
    if (path.starts_with(kWirePath)) return routeWire(std::move(request), answer);
    if (const char* const lacking = lackingAt(path)) return refuse(answer, {404, lacking, {}, "not_found"});
    const Read read = readOf(path);
    const Tell tell = tellOf(path);
    if (read == nullptr && tell == nullptr) return refuseUnknown(answer);
    const char* const method = read != nullptr ? "POST" : "GET";
    if (request.method != method) {
      HttpReply wrong = errorReply(405, std::string("this endpoint takes ") + method);
      wrong.headers.emplace_back("Allow", method);
      return reply(answer, std::move(wrong));
    }
    if (read != nullptr) return take(std::move(request), answer, read);
    orRefuse(answer, [&] { reply(answer, (this->*tell)(path)); });
  }

  // True for a path of OpenAI's API asked by a client whose address was given without "/v1".
  static bool isWithoutVersion(std::string_view path) {
    constexpr std::string_view kPaths[] = {"/chat/completions", "/completions", "/embeddings", "/responses", "/models"};
    return std::ranges::find(kPaths, path) != std::end(kPaths) || path.starts_with(kModelPath.substr(kVersion.size()));
  }

  // A path that clients' APIs have and this server has not; null: it is none of theirs.
  static const char* lackingAt(std::string_view path) {
    if (path == "/v1/embeddings") return "this server gives no embeddings";
    if (path.starts_with("/v1/responses")) return "this server has no Responses API (/v1/responses): use /v1/chat/completions";
    if (path == "/v1/messages" || path == "/api/chat" || path == "/api/generate")
      return "this server speaks OpenAI's API alone: use /v1/chat/completions";
    return nullptr;
  }

  // Null: it is none that asks the model.
  static Read readOf(std::string_view path) {
    if (path == "/v1/chat/completions") return &Work::readChat;
    if (path == "/v1/completions") return &Work::readCompletion;
    if (path == "/winnow/plan") return &Work::readPlan;
    if (path == "/tokenize") return &Work::readTokenize;
    if (path == "/detokenize") return &Work::readDetokenize;
    return nullptr;
  }

  // Null: it is none that is answered at once.
  static Tell tellOf(std::string_view path) {
    if (path == "/") return &Work::greeting;
    if (path == "/health") return &Work::health;
    if (path == "/props") return &Work::properties;
    if (path == "/metrics") return &Work::metrics;
    if (path == "/openapi.json") return &Work::description;
    if (path == "/v1/models") return &Work::models;
    if (path.starts_with(kModelPath)) return &Work::modelNamed;
    return nullptr;
  }

  void refuseUnknown(const Answer& answer) { refuse(answer, {404, "there is no such endpoint", {}, "not_found"}); }

  // Routes what another machine's Winnow asks.
  void routeWire(HttpRequest request, const Answer& answer) {
    const std::string path = request.path.substr(kWirePath.size());
    const bool media = path.starts_with(kMediaPath);
    if (path == "requests" && request.method == "POST") return take(std::move(request), answer, &Work::readWire);
    if (path == "stop" && request.method == "POST") {
      m_mailbox.post([this, request = std::move(request)] { m_wire.stop(request); });
      return reply(answer, {204, "", "", {}});
    }
    if (!media || (request.method != "PUT" && request.method != "HEAD")) return refuseUnknown(answer);
    m_reader.post([this, sha256 = path.substr(kMediaPath.size()), piece = std::make_shared<HttpRequest>(std::move(request)), answer] {
      orRefuse(answer, [&] { reply(answer, piece->method == "HEAD" ? m_wire.has(sha256) : m_wire.take(sha256, *piece)); });
    });
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

  HttpReply greeting(const std::string& /*path*/) const {
    return {200, "text/plain", "Winnow. The API is at /v1: /v1/models, /v1/chat/completions\n", {}};
  }
  HttpReply metrics(const std::string& /*path*/) const { return {200, "text/plain; version=0.0.4", m_counters.text(m_line.inLine()), {}}; }
  HttpReply description(const std::string& /*path*/) const { return {200, "application/json", apiDescription(m_options.version), {}}; }
  HttpReply health(const std::string& /*path*/) const {
    loadedModel();
    return jsonReply({{"status", "ok"}});
  }
  HttpReply models(const std::string& /*path*/) const {
    Ordered list = Ordered::array();
    if (const std::optional<ModelInfo> model = this->model()) list.push_back(modelJson(*model, m_startedS));
    return jsonReply({{"object", "list"}, {"data", std::move(list)}});
  }
  HttpReply modelNamed(const std::string& path) const {
    const ModelInfo model = loadedModel();
    const QByteArray named = QByteArray::fromPercentEncoding(QByteArray::fromStdString(path.substr(kModelPath.size())));
    if (named.toStdString() != model.name) throw otherModel(model);
    return jsonReply(modelJson(model, m_startedS));
  }
  HttpReply properties(const std::string& /*path*/) const {
    const ModelInfo model = loadedModel();
    const RecipeSpec& recipe = m_options.defaults.recipe;
    return jsonReply(
        {{"model_path", model.name},
         {"total_slots", 1},
         {"default_generation_settings", {{"n_ctx", model.context_tokens}}},
         {"modalities", {{"vision", model.traits.sees}, {"video", model.traits.sees && model.traits.reads_videos}, {"audio", false}}},
         {"build_info", "winnow " + m_options.version},
         {"winnow",
          {{"version", m_options.version},
           {"wire", kWireVersion},
           {"model", modelMark(model)},
           {"method", recipe.method},
           {"retention", recipe.retention}}}});
  }

  static ApiRefusal otherModel(const ModelInfo& model) {
    return {404, "there is no such model here; \"" + model.name + "\" is loaded", "model", "model_not_found"};
  }

  void refuseBusy(const Answer& answer) {
    HttpReply later = errorReply(429, "too many requests are waiting", {}, "queue_full");
    later.headers.emplace_back("Retry-After", std::to_string(kRetryAfterS));
    reply(answer, std::move(later));
  }

  // From the listener's thread to the reader's: a body may hold hundreds of megabytes of base64. One that names media of the network goes
  // on to a thread of its own, so that no other waits for a slow machine.
  void take(HttpRequest request, const Answer& answer, Read read) {
    if (!m_line.enter()) return refuseBusy(answer);
    m_reader.post([this, arriving = Arriving{std::make_shared<HttpRequest>(std::move(request)), answer, Clock::now()}, read] {
      try {
        readFrom(arriving, read, m_media);
      } catch (const MustFetch&) {
        m_fetchers.start([this, arriving, read] { readFetching(arriving, read); });
      }
    });
  }

  void readFetching(const Arriving& arriving, Read read) {
    const auto asker = std::make_shared<InterruptSource>(m_closing.token());
    arriving.answer->whenGone([asker] { asker->request_cancel(); });
    RemoteMedia remote(*m_options.remoteMedia, asker->token());
    readFrom(arriving, read, m_media.by([&](const std::string& url, const std::string& param) { return remote.fetch(url, param); }));
  }

  void readFrom(const Arriving& arriving, Read read, const RequestMedia& media) {
    Mailbox::Letter then;  // empty: it was refused
    if (!m_closing.token().requested()) {
      orRefuse(arriving.answer, [&] { then = (this->*read)({*arriving.request, arriving.answer, loadedModel(), arriving.at, media}); });
    }
    if (!then) return m_line.leave();
    m_mailbox.post(std::move(then));
  }

  ModelInfo loadedModel() const {
    const std::optional<ModelInfo> model = this->model();
    if (!model) throw ApiRefusal(503, "no model is loaded", {}, "no_model");
    return *model;
  }

  // An exception of the step becomes the answer.
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

  Mailbox::Letter readChat(const Arrived& arrived) { return answerOf(arrived, chatOf(arrived), /*planOnly=*/false); }
  Mailbox::Letter readPlan(const Arrived& arrived) { return answerOf(arrived, chatOf(arrived), /*planOnly=*/true); }
  Mailbox::Letter readCompletion(const Arrived& arrived) {
    return answerOf(arrived, completionRequestOf(arrived.request.body, m_options.defaults), /*planOnly=*/false);
  }
  Mailbox::Letter readTokenize(const Arrived& arrived) {
    return tokensOf(arrived, tokenizeRequestOf(arrived.request.body, defaultsOf(arrived), arrived.media, m_mediaReader));
  }
  Mailbox::Letter readDetokenize(const Arrived& arrived) { return tokensOf(arrived, detokenizeRequestOf(arrived.request.body)); }
  Mailbox::Letter readWire(const Arrived& arrived) {
    return [this, asked = m_wire.read(arrived.request, arrived.answer, arrived.model)] {
      m_counters.answered(200);
      m_wire.enqueue(asked, model());
    };
  }

  RequestDefaults defaultsOf(const Arrived& arrived) {
    RequestDefaults defaults = m_options.defaults;
    defaults.pictures = arrived.model.picture_detail;
    defaults.frames = arrived.model.frame_detail;
    return defaults;
  }

  ChatRequest chatOf(const Arrived& arrived) {
    return chatRequestOf(arrived.request.body, defaultsOf(arrived), arrived.media, m_mediaReader);
  }

  static std::string today() { return QDate::currentDate().toString(Qt::ISODate).toStdString(); }

  Mailbox::Letter answerOf(const Arrived& arrived, ChatRequest chat, bool planOnly) {
    const ModelInfo& model = arrived.model;
    requireModel(chat.model, model);
    Turn& turn = chat.turn;
    if (!chat.lengthGiven && !m_options.lengthGiven) turn.sampling.max_new_tokens = longestUnasked(model);
    turn.prompt.day = today();
    turn.asked = arrived.at;
    AnswerName name{newId(chat.form), QDateTime::currentSecsSinceEpoch(), model.name, chat.form};
    if (turn.sampling.temperature > 0.0) name.seed = static_cast<std::int64_t>(turn.sampling.seed);
    auto asked = std::make_shared<Asked>(*this, std::move(chat), name, arrived.answer);
    asked->planOnly = planOnly;
    return intoLine(arrived, std::move(asked), !planOnly);
  }

  Mailbox::Letter tokensOf(const Arrived& arrived, TokenRequest tokens) {
    requireModel(tokens.model, arrived.model);
    auto asked = std::make_shared<AskedTokens>(*this, std::move(tokens), arrived.model.context_tokens, arrived.answer);
    return intoLine(arrived, std::move(asked), /*counts=*/false);
  }

  // counts: among those that were asked for an answer.
  Mailbox::Letter intoLine(const Arrived& arrived, AnswerLine::Place place, bool counts) {
    return [this, answer = arrived.answer, readFor = arrived.model.name, place = std::move(place), counts] {
      const std::optional<ModelInfo> model = this->model();
      if (!model || model->name != readFor) {  // it was changed while this was read
        m_line.leave();
        return refuse(answer, modelChanged());
      }
      if (counts) ++m_requests;
      answer->whenGone([this, place] { m_mailbox.post([this, place] { m_line.gone(place); }); });
      m_line.push(place);
    };
  }

  // On the engine host's thread from here on.

  // The prompt that this thread has now: on the day of the conversation that it goes on with.
  RequestBody promptOf(Turn turn) {
    turn.prompt.day = today();
    turn.prompt.day = m_threads.dayOf(turn);
    return Tokenize{std::move(turn.messages), std::move(turn.prompt)};
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
    m_threads.answered(asked.chat.turn, finished.answer, memory_bytes(finished.figures.kv_bytes));
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

  EngineHost& m_engine;
  const ApiOptions m_options;
  const std::int64_t m_startedS;
  Counters m_counters;
  InterruptSource m_closing;

  mutable std::mutex m_mutex;  // guards m_model
  std::optional<ModelInfo> m_model;

  // Used by the threads that read requests.
  MediaStore m_store;
  const RequestMedia m_media;
  const MediaReader& m_mediaReader;

  // Used by the engine host's thread.
  ServedThreads m_threads;
  AnswerLine m_line;
  Mailbox m_mailbox;
  WireService m_wire;
  int m_requests = 0;

  QThreadPool m_fetchers;
  WorkerThread m_reader;    // behind m_fetchers, which it posts to
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
