#include "app/engine/remote/winnow_server_engine.h"

#include <QRandomGenerator>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "app/engine/process/carried_files.h"
#include "app/engine/process/event_frames.h"
#include "app/engine/remote/server_fault.h"
#include "app/engine/remote/server_words.h"
#include "app/ground/threads/interrupt_notifier.h"
#include "app/media/files/content_hash.h"
#include "engine/base/json_document.h"
#include "engine/messages/interrupted.h"
#include "engine/messages/wire.h"

namespace winnow::app {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

struct Received {
  std::int64_t bytes = 0;
  bool whole = false;
};

Received receivedOf(const ServerAddress& address, const ServerReply& reply) {
  if (reply.status != 200) throw Exception(faultOf(address, reply));
  try {
    const Json answer = parse_json(reply.body, "the answer", {.max_bytes = 4096, .max_depth = 4, .max_elements = 16});
    return {answer.at("received").get<std::int64_t>(), answer.at("whole").get<bool>()};
  } catch (const std::exception&) {
    throw Exception(ErrorCode::kServerNotUnderstood, address.host(), "its answer to a file is none");
  }
}

constexpr std::chrono::seconds kStopPatience{20};
constexpr std::size_t kMostAnswerBytes = std::size_t{64} << 20;  // of a request's answers, which may be several
constexpr JsonLimits kAnswerLimits{.max_bytes = 64 << 10, .max_depth = 8, .max_elements = 1000};

// The member "winnow" of its /props; null: there is none.
Json winnowProps(ServerConnection& connection, const InterruptToken& interrupt) {
  const ServerReply reply = connection.ask(connection.address().root() + "/props", std::nullopt, interrupt);
  if (reply.status != 200) throw Exception(faultOf(connection.address(), reply));
  try {
    const Json props = parse_json(reply.body, "the answer", kAnswerLimits);
    const Json* said = toldAt(props, {"winnow"});
    return said != nullptr ? *said : Json();
  } catch (const Exception&) {
    return {};
  }
}

std::string wordIn(const ServerReply& reply) {
  try {
    return textAt(parse_json(reply.body, "the answer", kAnswerLimits), {"error", "code"});
  } catch (const Exception&) {
    return {};
  }
}

bool isOfServer(ErrorCode code) { return code >= ErrorCode::kServerUnreachable && code <= ErrorCode::kServerBrokeOff; }

std::string newSession() {
  std::string session;
  for (int i = 0; i < 2; ++i)
    session += QString::number(QRandomGenerator::system()->generate64(), 16).rightJustified(16, QLatin1Char('0')).toStdString();
  return session;
}

}  // namespace

std::string CarriedMedia::carry(const std::string& path, const InterruptToken& interrupt) {
  const MediaFile file(path);
  const std::string sha256 = hashOf(file, interrupt);
  if (!m_there.contains(sha256)) send(file, sha256, interrupt);
  m_there.insert(sha256);
  return carriedName(sha256);
}

std::string CarriedMedia::hashOf(const MediaFile& file, const InterruptToken& interrupt) {
  const auto known = m_known.find(file.path());
  if (known != m_known.end() && !file.version().empty() && known->second.version == file.version()) return known->second.sha256;
  std::string sha256 = wholeHash(file, interrupt);
  m_known.insert_or_assign(file.path(), Known{file.version(), sha256});
  return sha256;
}

// A piece of nothing asks how much is there.
void CarriedMedia::send(const MediaFile& file, const std::string& sha256, const InterruptToken& interrupt) {
  const std::string url = m_connection.address().root() + "/winnow/v1/media/" + sha256 + "?of=" + std::to_string(file.sizeBytes()) + "&at=";
  std::int64_t at = 0;
  bool asked = false;
  int refused = 0;  // pieces in a row that the server has not taken: somebody else sends the same file
  while (refused < 8) {
    std::vector<std::uint8_t> piece;
    if (asked) piece = file.readRange(at, std::min(kPieceBytes, file.sizeBytes() - at));
    if (asked && piece.empty()) throw Exception(ErrorCode::kFileUnreadable, file.path(), "it became shorter while it was sent");
    const std::string_view bytes(reinterpret_cast<const char*>(piece.data()), piece.size());
    const Received received = receivedOf(m_connection.address(), m_connection.put(url + std::to_string(at), bytes, interrupt));
    if (received.whole) return;
    const std::int64_t expected = at + static_cast<std::int64_t>(piece.size());
    refused = received.bytes == expected ? 0 : refused + 1;
    at = std::clamp<std::int64_t>(received.bytes, 0, file.sizeBytes());
    asked = true;
  }
  throw Exception(ErrorCode::kServerNotUnderstood, m_connection.address().host(), "it does not take the file's pieces in their order");
}

// The answer to one request: its events under the names that files have here.
class WinnowServerEngine::Answer {
 public:
  Answer(const ServerAddress& address, RequestId id, EventSink& sink) : m_address(address), m_id(id), m_sink(sink) {}

  void calls(const std::string& name, const std::string& path) { m_paths.emplace(name, path); }

  void add(std::string_view piece) {
    m_frames.add(piece);
    while (const auto bytes = nextFrame()) {
      if (!bytes->empty() && !m_ended) take(*bytes);
    }
  }
  bool ended() const { return m_ended; }
  // A file is hashed and sent, which may take a while.
  void reads() { m_sink.on_event({m_id, Progress{Phase::kDecodeMedia, 0, 0}}); }
  std::optional<ModelInfo> model;  // of a ModelLoaded, which is not passed on

 private:
  [[noreturn]] void misunderstood(const std::string& reason) const {
    throw Exception(ErrorCode::kServerNotUnderstood, m_address.host(), reason);
  }
  std::optional<std::vector<std::uint8_t>> nextFrame() {
    try {
      return m_frames.next();
    } catch (const Exception& problem) {
      misunderstood(problem.error().reason);
    }
  }
  Event decoded(const std::vector<std::uint8_t>& bytes) const {
    try {
      return decoded_event(bytes);
    } catch (const Exception& problem) {
      misunderstood("what it sends is no event: " + problem.error().reason);
    }
  }

  void take(const std::vector<std::uint8_t>& bytes) {
    Event event = decoded(bytes);
    if (event.id != m_id) misunderstood("it answers another request");
    m_ended = ends_request(event);
    if (auto* loaded = std::get_if<ModelLoaded>(&event.body)) {
      model = std::move(loaded->info);
      return;
    }
    visitFiles(event.body, [&](std::string& path) {
      if (const auto known = m_paths.find(path); known != m_paths.end()) path = known->second;
    });
    if (const auto* text = std::get_if<TextDelta>(&event.body)) m_textBytes += text->text.size();
    if (m_textBytes > kMostAnswerBytes) misunderstood("its answer has no end");
    if (auto* failed = std::get_if<Failed>(&event.body); failed != nullptr && isOfServer(failed->error.code))
      failed->error.subject = m_address.host();
    m_sink.on_event(std::move(event));
  }

  const ServerAddress& m_address;
  const RequestId m_id;
  EventSink& m_sink;
  std::map<std::string, std::string> m_paths;  // by the names that files have there
  FrameReader m_frames;
  std::size_t m_textBytes = 0;
  bool m_ended = false;
};

WinnowServerEngine::WinnowServerEngine(std::unique_ptr<ServerConnection> connection)
    : m_connection(std::move(connection)), m_media(*m_connection) {
  m_connection->alwaysSay("Winnow-Session", newSession());
}

std::string WinnowServerEngine::path(const char* what) const {
  return m_connection->address().root() + "/winnow/v1/" + what + (what == std::string_view("requests") ? "?model=" + m_mark : "");
}

void WinnowServerEngine::handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) {
  const bool silent = std::holds_alternative<ForgetConversation>(request.body);
  const EmitEvent emit(sink, request.id);
  try {
    if (std::holds_alternative<LoadModel>(request.body)) return load(request.id, sink, interrupt);
    Answer answer(m_connection->address(), request.id, sink);
    forward(request, answer, interrupt);
  } catch (const Interrupted&) {
    if (silent) return;
    emit(interrupted_and_restored());
  } catch (...) {
    if (!silent) emit(Failed{current_error(m_connection->address().host())});
  }
}

void WinnowServerEngine::load(RequestId id, EventSink& sink, const InterruptToken& interrupt) {
  ServerAddress address = m_connection->address();
  const Json props = winnowProps(*m_connection, interrupt);
  m_mark = textAt(props, {"model"});
  Answer answer(address, id, sink);
  send({id, LoadModel{}}, answer, interrupt);
  if (!answer.model) {
    if (answer.ended()) return;  // it says why
    throw Exception(ErrorCode::kServerBrokeOff, address.host(), "its answer ends without saying so");
  }
  ModelInfo info = *std::move(answer.model);
  address.model = m_name = info.name;
  info.folder = textOf(address);
  info.server = "Winnow at " + address.host();
  sink.on_event({id, ModelLoaded{std::move(info)}});
}

void WinnowServerEngine::forward(const Request& request, Answer& answer, const InterruptToken& interrupt) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    Request there = request;
    visitFiles(there.body, [&](std::string& path) {
      answer.reads();
      const std::string name = m_media.carry(path, interrupt);
      answer.calls(name, std::exchange(path, name));
    });
    if (send(there, answer, interrupt) == Sent::kAnswered) break;
    m_media.forgetWhatIsThere();  // it has made room meanwhile
  }
  if (!answer.ended() && !std::holds_alternative<ForgetConversation>(request.body))
    throw Exception(ErrorCode::kServerBrokeOff, m_connection->address().host(), "its answer ends without saying so");
}

WinnowServerEngine::Sent WinnowServerEngine::send(const Request& request, Answer& answer, const InterruptToken& interrupt) {
  const std::vector<std::uint8_t> bytes = encoded(request);
  const std::string stop = path("stop") + "?id=" + std::to_string(request.id);
  InterruptSource hangUp;
  QTimer patience;
  patience.setSingleShot(true);
  const auto end = [&] { hangUp.request_cancel(); };
  QObject::connect(&patience, &QTimer::timeout, end);
  const InterruptNotifier onStop(interrupt, Interrupt::kNone, [&] {
    if (interrupt.state() != Interrupt::kStop) return;
    m_connection->tell(stop);
    patience.start(kStopPatience);
  });
  const InterruptNotifier onCancel(interrupt, Interrupt::kStop, end);
  const auto take = [&](const ServerReply& /*head*/, std::string_view piece) { answer.add(piece); };
  const ServerAddress& address = m_connection->address();
  ServerReply reply;
  try {
    reply = m_connection->stream(path("requests"), std::string(bytes.begin(), bytes.end()), take, hangUp.token());
  } catch (const Interrupted&) {
    if (interrupt.state() == Interrupt::kCancel) throw;
    throw Exception(ErrorCode::kServerBrokeOff, address.host(), "it did not stop when it was asked to");
  }
  if (reply.status == 200) return Sent::kAnswered;
  const std::string word = wordIn(reply);
  if (word == "media_missing") return Sent::kMediaMissing;
  if (word == "model_changed") throw Exception(ErrorCode::kServerModelMissing, m_name, "another model is loaded there now");
  throw Exception(faultOf(address, reply));
}

bool isWinnowServer(ServerConnection& connection, const InterruptToken& interrupt) {
  const Json props = winnowProps(connection, interrupt);
  const Json* wire = toldAt(props, {"wire"});
  if (wire == nullptr) return false;
  if (wire->is_number_unsigned() && wire->get<std::uint64_t>() == kWireVersion) return true;
  throw Exception(ErrorCode::kServerNotUnderstood, connection.address().host(),
                  "its Winnow is of a version that this one does not understand (wire " + wire->dump() + ", here " +
                      std::to_string(kWireVersion) + ")");
}

}  // namespace winnow::app
