#include "app/engine/remote/remote_engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "app/engine/remote/answer_stream.h"
#include "app/engine/remote/server_fault.h"
#include "engine/base/error.h"
#include "engine/base/json_document.h"
#include "engine/messages/requests.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostOpenAiStops = 4;

const char* wordOf(Role role) {
  switch (role) {
    case Role::kSystem: return "system";
    case Role::kUser: return "user";
    case Role::kAssistant: break;
  }
  return "assistant";
}

// One text is written as such: not every server knows lists of parts.
Json contentOf(const std::vector<Json>& parts) {
  std::string text;
  for (const Json& part : parts) {
    if (part["type"] != "text") return parts;
    text += (text.empty() ? "" : "\n\n") + part["text"].get<std::string>();
  }
  return text;
}

// The body's fields beside the messages, about the videos inside.
struct Videos {
  bool any = false;
  FramePlan plan;  // of the first
};

Json messagesOf(const Turn& turn, const std::function<SentMedium(const MediaRequest&)>& media, Videos& videos) {
  Json messages = Json::array();
  for (const Message& message : turn.messages) {
    std::vector<Json> parts;
    for (const Item& item : message.items) {
      if (const auto* text = std::get_if<TextItem>(&item)) {
        parts.push_back({{"type", "text"}, {"text", text->text}});
        continue;
      }
      const MediaRequest& request = std::get<MediaItem>(item).media;
      SentMedium sent = media(request);
      if (sent.video && !std::exchange(videos.any, true)) videos.plan = request.plan;
      for (Json& part : sent.parts) parts.push_back(std::move(part));
    }
    messages.push_back({{"role", wordOf(message.role)}, {"content", contentOf(parts)}});
  }
  if (!turn.answer_begun.empty()) messages.push_back({{"role", "assistant"}, {"content", turn.answer_begun}});
  return messages;
}

// By names that each kind of server knows; OpenAI's own refuses unknown ones, so only what differs from its default is said.
void writeSampling(Json& body, const Sampling& sampling, const ServerTraits& traits) {
  const bool openAi = traits.kind == ServerKind::kOpenAi;
  body["temperature"] = sampling.temperature;
  if (sampling.limit_chosen()) body[openAi ? "max_completion_tokens" : "max_tokens"] = sampling.max_new_tokens;
  if (sampling.top_p < 1.0) body["top_p"] = sampling.top_p;
  if (sampling.top_k > 0) body["top_k"] = sampling.top_k;
  if (sampling.min_p > 0.0) body["min_p"] = sampling.min_p;
  if (sampling.repetition_penalty != 1.0) {
    const bool shortName = traits.kind == ServerKind::kLlamaServer || traits.kind == ServerKind::kLlamaCppPython;
    body[shortName ? "repeat_penalty" : "repetition_penalty"] = sampling.repetition_penalty;
  }
  if (sampling.temperature > 0.0) body["seed"] = static_cast<std::int64_t>(sampling.seed & 0x7fffffff);  // some take 32 bits
  if (sampling.stop_strings.empty()) return;
  const std::size_t stops = openAi ? std::min(sampling.stop_strings.size(), kMostOpenAiStops) : sampling.stop_strings.size();
  body["stop"] =
      std::vector<std::string>(sampling.stop_strings.begin(), sampling.stop_strings.begin() + static_cast<std::ptrdiff_t>(stops));
}

void writeThinking(Json& body, const Sampling& sampling, ServerKind kind) {
  const Thinking thinking = thinking_of(sampling);
  if (thinking == Thinking::kAsTheTemplateHasIt) return;
  const bool byTemplate =
      kind == ServerKind::kVllm || kind == ServerKind::kSglang || kind == ServerKind::kLlamaServer || kind == ServerKind::kWinnow;
  if (byTemplate) {
    body["chat_template_kwargs"] = {{"enable_thinking", thinking == Thinking::kOn}};
  } else if (thinking == Thinking::kOff) {
    body["reasoning_effort"] = "none";
  }
}

// Which frames the server is to take of a video: vLLM's words, which Winnow knows, too.
void writeFrames(Json& body, const Videos& videos, const ServerTraits& traits) {
  if (!videos.any || traits.choosesFrames) return;
  const FramePlan& plan = videos.plan;
  Json frames =
      plan.every_s > 0.0 ? Json{{"fps", 1.0 / plan.every_s}, {"num_frames", plan.max_frames}} : Json{{"num_frames", plan.frame_count}};
  body["media_io_kwargs"] = {{"video", std::move(frames)}};
}

// A turn as the body of POST /v1/chat/completions, in the words of the kind of server. Pure; threads: any.

// media: the parts of an attachment; called once for each, in the order of the thread.
Json chatBody(const Turn& turn, const ServerTraits& traits, const std::function<SentMedium(const MediaRequest&)>& media) {
  Videos videos;
  Json body = {{"model", traits.model}, {"stream", true}, {"stream_options", {{"include_usage", true}}}};
  body["messages"] = messagesOf(turn, media, videos);
  writeSampling(body, turn.sampling, traits);
  writeThinking(body, turn.sampling, traits.kind);
  writeFrames(body, videos, traits);
  if (!turn.answer_begun.empty()) {
    body["continue_final_message"] = true;
    if (traits.kind == ServerKind::kVllm) body["add_generation_prompt"] = false;
  }
  return body;
}

// bytes that are not UTF-8 become U+FFFD
std::string bodyText(const Json& body) { return body.dump(-1, ' ', false, Json::error_handler_t::replace); }

using Clock = std::chrono::steady_clock;

constexpr double kSampleEveryMs = 100.0;
constexpr std::size_t kMostTextBytes = std::size_t{16} << 20;  // of an answer and its thoughts

double msBetween(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double, std::milli>(to - from).count(); }

constexpr Ability kNever[] = {Ability::kCompress, Ability::kPlan,  Ability::kPrepare, Ability::kCompare,
                              Ability::kScore,    Ability::kWatch, Ability::kKeep,    Ability::kExport};

// llama-server names a model by its file's whole path.
std::string shownName(const std::string& model) {
  return model.starts_with('/') && !model.ends_with('/') ? model.substr(model.rfind('/') + 1) : model;
}

// "At most 4 image(s) may be provided in one prompt": vLLM's words. 0: it says no number.
std::int64_t picturesLimitIn(const std::string& words) {
  const std::size_t at = words.find("At most ");
  return at == std::string::npos ? 0 : std::atoll(words.c_str() + at + 8);
}

// vLLM takes it only if it was started so (--trust-request-mm-kwargs); frames that are sent as pictures need none.
bool refusesFrameCount(const Error& error) { return error.reason.find("media_io_kwargs") != std::string::npos; }

}  // namespace

// The answer to one question as it comes.
class RemoteEngine::Answer {
 public:
  Answer(const ServerAddress& address, const EmitEvent& emit, Clock::time_point asked)
      : stream(address, [this](TextDelta delta) { take(std::move(delta)); }), m_emit(emit), m_asked(asked) {}

  Finished finished(StopReason reason) const {
    Finished done{.reason = reason, .answer = m_answer, .thought = m_thought};
    TurnFigures& figures = done.figures;
    const AnswerUsage usage = stream.usage().value_or(AnswerUsage{0, 0, stream.pieces(), 0});
    figures.tokens.prompt = usage.promptTokens - usage.cachedTokens;  // read for this question
    figures.tokens.text = figures.tokens.prompt;
    figures.tokens.thread_text = usage.promptTokens;
    figures.tokens.generated = usage.generatedTokens;
    figures.tokens.thought = usage.thoughtTokens;
    if (!m_first) return done;
    figures.timings_ms.ttft = msBetween(m_asked, *m_first);
    figures.timings_ms.decode_total = msBetween(*m_first, m_last);
    figures.tokens_per_s = speed(usage.generatedTokens);
    return done;
  }

  AnswerStream stream;

 private:
  void take(TextDelta delta) {
    m_last = Clock::now();
    if (!m_first) m_first = m_sampled = m_last;
    if (m_answer.size() + m_thought.size() + delta.text.size() > kMostTextBytes)
      throw Exception(ErrorCode::kServerNotUnderstood, "", "its answer has no end");
    (delta.kind == TextKind::kAnswer ? m_answer : m_thought) += delta.text;
    m_emit(std::move(delta));
    if (msBetween(m_sampled, m_last) < kSampleEveryMs) return;
    m_sampled = m_last;
    DecodeSample sample{.generated_tokens = stream.pieces(), .tokens_per_s = speed(stream.pieces())};
    m_emit(std::move(sample));
  }

  double speed(std::int64_t tokens) const {
    const double ms = msBetween(*m_first, m_last);
    return ms > 0.0 && tokens > 1 ? 1000.0 * static_cast<double>(tokens - 1) / ms : 0.0;
  }

  const EmitEvent& m_emit;
  const Clock::time_point m_asked;
  std::optional<Clock::time_point> m_first;
  Clock::time_point m_last{}, m_sampled{};
  std::string m_answer, m_thought;
};

RemoteEngine::RemoteEngine(std::unique_ptr<ServerConnection> connection, ServerTraits traits, MediaOpener* opener)
    : m_connection(std::move(connection)), m_traits(std::move(traits)), m_media(opener) {}

ModelInfo RemoteEngine::info() const {
  ServerAddress address = m_connection->address();
  address.model = m_traits.model;
  ModelInfo model;
  model.folder = textOf(address);
  model.name = shownName(m_traits.model);
  model.device = "server";
  model.server = std::string(nameOf(m_traits.kind)) + " at " + address.host();
  model.context_tokens = m_traits.contextTokens;
  model.most_pictures = m_traits.mostPictures;
  model.traits.sees = model.traits.reads_videos = m_traits.sees;
  model.thinks = m_traits.thinks;
  model.lacks.assign(std::begin(kNever), std::end(kNever));
  if (!m_traits.continues) model.lacks.push_back(Ability::kContinue);
  return model;
}

void RemoteEngine::handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) {
  const EmitEvent emit(sink, request.id);
  if (std::holds_alternative<ForgetConversation>(request.body)) return;  // it keeps none
  try {
    if (std::holds_alternative<LoadModel>(request.body)) return emit(ModelLoaded{info()});
    if (const auto* turn = std::get_if<Turn>(&request.body)) return answer(*turn, emit, interrupt);
    throw Exception(ErrorCode::kNotAble, info().server, "a server has no request for this");
  } catch (const Interrupted& stopped) {  // before an answer began
    Finished finished{.reason = StopReason::kInterrupted, .restored = stopped.kind() == Interrupt::kCancel};
    emit(std::move(finished));
  } catch (...) {
    Error error = current_error();
    if (error.subject.empty()) error.subject = m_connection->address().host();
    learnFrom(error);
    emit(Failed{error});
  }
}

void RemoteEngine::answer(const Turn& turn, const EmitEvent& emit, const InterruptToken& interrupt) {
  if (!begins_anew(turn) && (!m_traits.continues || !turn.thought_begun.empty()))
    throw Exception(ErrorCode::kNotAble, info().server, "it cannot go on with an answer that was begun");
  const Clock::time_point asked = turn.asked == Clock::time_point() ? Clock::now() : turn.asked;
  Answer answer(m_connection->address(), emit, asked);
  try {
    try {
      ask(turn, emit, answer, interrupt);
    } catch (const Exception& refusal) {
      if (!m_traits.takesVideos || !refusesFrameCount(refusal.error())) throw;
      m_traits.takesVideos = false;
      ask(turn, emit, answer, interrupt);
    }
  } catch (const Interrupted& stopped) {
    Finished finished = answer.finished(StopReason::kInterrupted);
    finished.restored = stopped.kind() == Interrupt::kCancel;
    return emit(std::move(finished));
  }
  emit(answer.finished(answer.stream.reason()));
}

std::string RemoteEngine::bodyOf(const Turn& turn, const EmitEvent& emit, const InterruptToken& interrupt) {
  m_media.requireTaken(turn.messages, m_traits, interrupt);
  const auto medium = [&](const MediaRequest& request) {
    SentMedium sent = m_media.read(
        request, m_traits, [&](const Progress& progress) { emit(progress); }, interrupt);
    emit(sent.sampled);
    return sent;
  };
  return bodyText(chatBody(turn, m_traits, medium));
}

void RemoteEngine::ask(const Turn& turn, const EmitEvent& emit, Answer& answer, const InterruptToken& interrupt) {
  const std::string body = bodyOf(turn, emit, interrupt);
  emit(Progress{Phase::kPrefill, 0, 0});
  send(body, answer, interrupt);
}

void RemoteEngine::send(const std::string& body, Answer& answer, const InterruptToken& interrupt) {
  const ServerAddress& address = m_connection->address();
  Clock::time_point latest = Clock::now();  // that said something: bytes alone may drip for ever
  std::int64_t chunks = 0;
  const auto take = [&](const ServerReply& head, std::string_view piece) {
    const Clock::time_point now = Clock::now();
    answer.stream.add(head, piece);
    if (std::exchange(chunks, answer.stream.chunks()) != answer.stream.chunks()) latest = now;
    if (const int silentMs = m_connection->patience().silenceMs; silentMs > 0 && msBetween(latest, now) > silentMs)
      throw Exception(ErrorCode::kServerUnreachable, address.host(), "no word came for " + std::to_string(silentMs / 1000) + " s");
  };
  const ServerReply reply = m_connection->stream(address.url + "/chat/completions", body, take, interrupt);
  if (reply.status != 200) throw Exception(faultOf(address, reply));
  answer.stream.end();
  if (!answer.stream.ended()) throw Exception(ErrorCode::kServerBrokeOff, address.host(), "its answer ends without saying so");
}

// A request that the server has refused once is refused before it is asked again.
void RemoteEngine::learnFrom(const Error& error) {
  if (error.code == ErrorCode::kModelReadsText) m_traits.sees = false;
  if (error.code == ErrorCode::kTooManyPictures && m_traits.mostPictures == 0) m_traits.mostPictures = picturesLimitIn(error.reason);
}

}  // namespace winnow::app
