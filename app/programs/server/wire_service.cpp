#include "app/programs/server/wire_service.h"

#include <QCryptographicHash>
#include <QUrlQuery>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/engine/process/carried_files.h"
#include "app/engine/process/event_frames.h"
#include "app/programs/server/api_json.h"
#include "engine/messages/wire.h"
#include "engine/metrics/kept_figures.h"

namespace winnow::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr ConversationId kFirstWireConversation = (ConversationId{1} << 62) + (ConversationId{1} << 61);
constexpr std::size_t kMostConversations = 64;
constexpr std::size_t kMostRequestBytes = std::size_t{16} << 20;
constexpr int kMostWireFrames = 100'000;
constexpr int kAliveMs = 5'000;

// The requests that a client may make. Those that name a file to write or to read here are not among them, nor those that load another
// model.
struct MayBeAsked {
  bool operator()(const LoadModel&) const { return true; }  // told of the model that is loaded
  bool operator()(const Turn&) const { return true; }
  bool operator()(const Compare&) const { return true; }
  bool operator()(const Score&) const { return true; }
  bool operator()(const Plan&) const { return true; }
  bool operator()(const Prepare&) const { return true; }
  bool operator()(const ForgetConversation&) const { return true; }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }
};

std::string sessionOf(const HttpRequest& request) {
  const bool is = request.session.size() == 32 && request.session.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is) throw ApiRefusal(400, "the header Winnow-Session must be 32 hex digits that nobody else has", {}, "session_missing");
  return request.session;
}

QString queryValue(const HttpRequest& request, const char* name) {
  return QUrlQuery(QString::fromStdString(request.query)).queryItemValue(QLatin1String(name));
}

std::int64_t numberIn(const HttpRequest& request, const char* name) {
  bool is = false;
  const std::int64_t number = queryValue(request, name).toLongLong(&is);
  if (!is) throw ApiRefusal(400, "must be a number", name);
  return number;
}

void requireSizes(const MediaRequest& media) {
  const FramePlan& plan = media.plan;
  if (plan.frame_count > kMostWireFrames || plan.max_frames > kMostWireFrames) throw ApiRefusal(400, "too many frames", "plan");
}

Turn* turnIn(RequestBody& body) {
  Turn* turn = nullptr;
  std::visit(
      [&]<class Kind>(Kind& request) {
        if constexpr (std::is_same_v<Kind, Turn>) turn = &request;
        if constexpr (requires { request.turn.asked; }) turn = &request.turn;
      },
      body);
  return turn;
}

void setConversation(RequestBody& body, ConversationId conversation) {
  if (Turn* turn = turnIn(body)) turn->conversation = conversation;
  if (auto* compare = std::get_if<Compare>(&body)) compare->conversation = conversation;
}

bool isFirstQuestion(const RequestBody& body) {
  const auto* turn = std::get_if<Turn>(&body);
  return turn != nullptr && std::ranges::count(turn->messages, Role::kUser, &Message::role) == 1;
}

}  // namespace

ModelInfo infoForClients(const ModelInfo& model) {
  ModelInfo info = model;
  info.folder.clear();
  info.projector.clear();
  for (const Ability none : {Ability::kWatch, Ability::kKeep, Ability::kExport}) {
    if (can(info, none)) info.lacks.push_back(none);
  }
  std::ranges::sort(info.lacks);
  return info;
}

std::string modelMark(const ModelInfo& model) {
  const std::vector<std::uint8_t> bytes = encoded(Event{0, ModelLoaded{infoForClients(model)}});
  const QByteArrayView view(bytes.data(), static_cast<qsizetype>(bytes.size()));
  return QCryptographicHash::hash(view, QCryptographicHash::Sha256).toHex().left(32).toStdString();
}

// One request of a client, from its bytes to its last event.
class WireService::Asked final : public LineRequest {
 public:
  explicit Asked(WireService& owner) : service(owner) {}
  RequestBody begin() override { return service.begin(*this); }
  void hear(const Event& event) override { service.hear(*this, event); }
  void turnAway(const ApiRefusal& refusal) override { hear({0, Failed{{ErrorCode::kServerFailed, "", refusal.message()}}}); }

  WireService& service;
  std::shared_ptr<HttpAnswer> answer;
  std::string session;
  RequestId theirs = 0;
  RequestBody body;
  std::string mark;                          // of the model that it is for
  std::map<std::string, std::string> names;  // by paths here: what the client calls them
  ConversationId ours = 0;
  Clock::time_point came;
};

WireService::WireService(const Uses& uses, MediaStore& store, std::int64_t keptBytes)
    : m_engine(uses.engine),
      m_line(uses.line),
      m_mailbox(uses.mailbox),
      m_store(store),
      m_uploads(store),
      m_conversations(kFirstWireConversation, keptBytes, kMostConversations) {
  QObject::connect(&m_alive, &QTimer::timeout, &m_line, [this] { sayAlive(); });
}

WireService::SharedAsked WireService::read(const HttpRequest& request, std::shared_ptr<HttpAnswer> answer, const ModelInfo& model) {
  if (request.body.size() > kMostRequestBytes) throw ApiRefusal(413, "the request is too large");
  auto asked = std::make_shared<Asked>(*this);
  asked->came = Clock::now();
  asked->session = sessionOf(request);
  asked->mark = queryValue(request, "model").toStdString();
  if (asked->mark != modelMark(model))
    throw ApiRefusal(409, "another model is loaded here: \"" + model.name + "\"", "model", "model_changed");
  Request decoded = decoded_request({reinterpret_cast<const std::uint8_t*>(request.body.data()), request.body.size()});
  if (!std::visit(MayBeAsked{}, decoded.body))
    throw ApiRefusal(403, "requests of this kind are not answered for other machines", {}, "request_not_allowed");
  asked->theirs = decoded.id;
  asked->body = std::move(decoded.body);
  visitMedia(asked->body, requireSizes);
  visitFiles(asked->body, [&](std::string& path) {
    const std::string sha256 = carriedHash(path);
    if (sha256.empty()) throw ApiRefusal(400, "files are named by the hashes of their bytes", "path", "file_not_allowed");
    std::string here = m_store.find(sha256);
    if (here.empty()) throw ApiRefusal(404, path, "path", "media_missing");
    asked->names.emplace(here, std::exchange(path, here));
  });
  if (Turn* turn = turnIn(asked->body)) turn->asked = asked->came;
  asked->answer = std::move(answer);
  return asked;
}

HttpReply WireService::has(const std::string& sha256) {
  const MediaUploads::State state = m_uploads.stateOf(sha256);
  return {state.whole ? 200 : 404, "", "", {{"Winnow-Received", std::to_string(state.received)}}};
}

HttpReply WireService::take(const std::string& sha256, const HttpRequest& piece) {
  if (carriedHash(carriedName(sha256)).empty()) throw ApiRefusal(400, "media are named by their SHA-256 in lower-case hex digits");
  const MediaUploads::State state = m_uploads.add(sha256, numberIn(piece, "at"), numberIn(piece, "of"), piece.body);
  return jsonReply({{"received", state.received}, {"whole", state.whole}});
}

void WireService::enqueue(const SharedAsked& asked, const std::optional<ModelInfo>& model) {
  asked->answer->begin({200, "application/vnd.winnow.events", "", {{"Cache-Control", "no-store"}}});
  if (answeredAtOnce(*asked, model)) return m_line.leave();
  m_open.push_back(asked);
  if (!m_alive.isActive()) m_alive.start(kAliveMs);
  asked->answer->whenGone([this, asked] { m_mailbox.post([this, asked] { gone(asked); }); });
  m_line.push(asked);
}

bool WireService::answeredAtOnce(Asked& asked, const std::optional<ModelInfo>& model) {
  if (!model || modelMark(*model) != asked.mark) {  // it was changed while this was read
    asked.turnAway(modelChanged());
  } else if (std::holds_alternative<LoadModel>(asked.body)) {
    hear(asked, {0, ModelLoaded{infoForClients(*model)}});
  } else if (const auto* forget = std::get_if<ForgetConversation>(&asked.body)) {
    if (const auto* const kept = m_conversations.find({asked.session, forget->conversation})) {
      m_engine.post(ForgetConversation{kept->conversation});
      m_conversations.forget(kept->conversation);
    }
    asked.answer->end();
  } else {
    return false;
  }
  return true;
}

void WireService::gone(const SharedAsked& asked) {
  end(*asked);
  m_line.gone(asked);
}

void WireService::stop(const HttpRequest& request) {
  const RequestId theirs = queryValue(request, "id").toULongLong();
  for (const std::weak_ptr<Asked>& each : std::list(m_open)) {
    const SharedAsked asked = each.lock();
    if (asked && asked->session == request.session && asked->theirs == theirs) m_line.stop(asked.get());
  }
}

RequestBody WireService::begin(Asked& asked) {
  const OfClient named{asked.session, conversation_of(asked.body)};
  auto* kept = m_conversations.find(named);
  // A first question takes over what its client has prepared as a draft.
  if (kept == nullptr && isFirstQuestion(asked.body)) kept = m_conversations.find({asked.session, kDraftConversation});
  if (kept == nullptr) kept = &m_conversations.add(named);
  kept->key = named;
  m_conversations.use(*kept);
  asked.ours = kept->conversation;
  setConversation(asked.body, asked.ours);
  return std::move(asked.body);
}

void WireService::hear(Asked& asked, const Event& event) {
  const auto holds = [&](std::int64_t bytes) {
    if (auto* const kept = m_conversations.find(asked.ours)) kept->bytes = bytes;
  };
  if (const auto* report = std::get_if<CacheReport>(&event.body)) holds(memory_bytes(report->kv_bytes));
  if (const auto* compared = std::get_if<Compared>(&event.body)) holds(compared->allocated_bytes);
  const bool last = ends_request(event);
  Event told = event;
  told.id = asked.theirs;
  visitFiles(told.body, [&](std::string& path) {
    const auto name = asked.names.find(path);
    if (name != asked.names.end()) {
      path = name->second;
    } else if (path.find('/') != std::string::npos) {
      path.clear();  // of this machine
    }
  });
  asked.answer->write(frameOf(encoded(told)));
  if (!last) return;
  asked.answer->end();
  end(asked);
  for (const ConversationId conversation : m_conversations.tooMany()) m_engine.post(ForgetConversation{conversation});
}

void WireService::end(Asked& asked) {
  m_open.remove_if([&](const std::weak_ptr<Asked>& each) { return each.expired() || each.lock().get() == &asked; });
  if (m_open.empty()) m_alive.stop();
}

// A prefill may take minutes without an event: neither a proxy nor the client is to take that for the end.
void WireService::sayAlive() {
  for (const std::weak_ptr<Asked>& each : m_open) {
    if (const SharedAsked asked = each.lock()) asked->answer->write(frameOf({}));
  }
}

}  // namespace winnow::app
