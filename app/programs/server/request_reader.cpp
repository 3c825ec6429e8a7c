#include "app/programs/server/request_reader.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "app/programs/server/completion_request.h"
#include "app/programs/server/request_media.h"
#include "app/programs/server/transcription_request.h"

namespace winnow::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRetryAfterS = 5;
constexpr int kMostFetching = 16;                                      // requests that media are fetched for at a time
constexpr std::string_view kModelNames[] = {"", "default", "winnow"};  // that name no model

// Callers that name no limit expect an answer to its end, and know no "go on".
int longestUnasked(const ModelInfo& model) { return static_cast<int>(std::clamp<std::int64_t>(model.context_tokens / 4, 256, 2048)); }

void requireModel(const std::string& named, const ModelInfo& model) {
  if (named != model.name && std::ranges::find(kModelNames, named) == std::end(kModelNames)) throw otherModel(model);
}

HttpReply busyReply() {
  HttpReply later = errorReply(429, "too many requests are waiting", {}, "queue_full");
  later.headers.emplace_back("Retry-After", std::to_string(kRetryAfterS));
  return later;
}

}  // namespace

struct RequestReader::Endpoint {
  std::string_view path;
  Mailbox::Letter (*read)(RequestReader& reader, const Arrived& arrived);
  std::size_t mostElements = kMostElements;
};

// A request that has entered the line. Its body is empty until it is parsed, and where it is none.
struct RequestReader::Arriving {
  const Endpoint& endpoint;
  Answer answer;
  Clock::time_point at;
  std::shared_ptr<const Json> body{};
};

struct RequestReader::Arrived {
  const RequestFields body;
  const Answer& answer;
  const ModelInfo model;
  const Clock::time_point at;
  const RequestMedia& media;
  const Arriving& arriving;
};

RequestReader::RequestReader(const ApiOptions& options, MediaStore& store, const MediaReader& media, const Uses& uses)
    : m_options(options), m_media(store, options.mediaFolders), m_mediaReader(media), m_uses(uses), m_reader("requests") {
  m_fetchers.setMaxThreadCount(kMostFetching);
}

RequestReader::~RequestReader() { m_closing.request_cancel(); }

const RequestReader::Endpoint* RequestReader::endpointAt(std::string_view path) {
  static constexpr Endpoint kEndpoints[] = {
      {"/v1/chat/completions",
       [](RequestReader& reader, const Arrived& arrived) { return reader.answerOf(arrived, reader.chatOf(arrived), /*planOnly=*/false); }},
      {"/winnow/plan",
       [](RequestReader& reader, const Arrived& arrived) { return reader.answerOf(arrived, reader.chatOf(arrived), /*planOnly=*/true); }},
      {"/v1/completions",
       [](RequestReader& reader, const Arrived& arrived) {
         return reader.answerOf(arrived, completionRequestOf(arrived.body, reader.m_options.defaults), /*planOnly=*/false);
       }},
      {"/tokenize",
       [](RequestReader& reader, const Arrived& arrived) {
         return reader.tokensOf(arrived,
                                tokenizeRequestOf(arrived.body, reader.defaultsFor(arrived.model), arrived.media, reader.m_mediaReader));
       }},
      {"/detokenize",
       [](RequestReader& reader, const Arrived& arrived) { return reader.tokensOf(arrived, detokenizeRequestOf(arrived.body)); },
       kMostGivenTokens + kMostElements}};
  const auto* const found = std::ranges::find(kEndpoints, path, &Endpoint::path);
  return found == std::end(kEndpoints) ? nullptr : found;
}

void RequestReader::take(HttpRequest request, const Answer& answer) {
  if (!m_uses.line.enter()) return m_uses.replies.reply(answer, busyReply());
  m_reader.post([this, arriving = Arriving{*endpointAt(request.path), answer, Clock::now()},
                 body = std::make_shared<const std::string>(std::move(request.body))]() mutable {
    parse(arriving, *body);
    if (arriving.body == nullptr) return m_uses.line.leave();
    readParsed(arriving);
  });
}

void RequestReader::takeSound(HttpRequest request, const Answer& answer) {
  if (!m_uses.line.enter()) return m_uses.replies.reply(answer, busyReply());
  m_reader.post([this, request = std::make_shared<const HttpRequest>(std::move(request)), answer] {
    readOrLeave(answer, [&]() -> Mailbox::Letter {
      const TranscriptionRequest asked = transcriptionRequestOf(*request);
      const auto heard = [this, answer, form = asked.form](const Transcribed& words) {
        m_uses.replies.reply(answer, transcriptReply(form, words));
      };
      Transcribe sound = m_uses.sounds.requestOf(asked.sound_view, asked.model);
      if (!asked.language.empty()) sound.language = asked.language;
      try {
        m_mediaReader.openSound({sound.path, {}}, {});
      } catch (const Exception& exception) {
        throw ApiRefusal(400, exception.error().reason, "file", "invalid_media");
      }
      return [this, answer, place = m_uses.answers.wordsOf(std::move(sound), answer, heard)] {
        ++m_requests;
        push(answer, place);
      };
    });
  });
}

void RequestReader::takeWire(HttpRequest request, const Answer& answer) {
  if (!m_uses.line.enter()) return m_uses.replies.reply(answer, busyReply());
  m_reader.post([this, request = std::make_shared<const HttpRequest>(std::move(request)), answer] {
    readOrLeave(answer, [&]() -> Mailbox::Letter {
      return [this, asked = m_uses.wire.read(*request, answer, m_uses.model.require())] {
        m_uses.replies.answered(200);
        m_uses.wire.enqueue(asked, m_uses.model.get());
      };
    });
  });
}

void RequestReader::takeMedia(std::string sha256, HttpRequest piece, const Answer& answer) {
  m_reader.post([this, sha256 = std::move(sha256), piece = std::make_shared<const HttpRequest>(std::move(piece)), answer] {
    m_uses.replies.orRefuse(answer, [&] {
      m_uses.replies.reply(answer, piece->method == "HEAD" ? m_uses.wire.has(sha256) : m_uses.wire.take(sha256, *piece));
    });
  });
}

void RequestReader::parse(Arriving& arriving, const std::string& body) {
  if (m_closing.token().requested()) return;
  m_uses.replies.orRefuse(arriving.answer, [&] {
    m_uses.model.require();  // before what is wrong with the body
    arriving.body = std::make_shared<const Json>(requestDocument(body, arriving.endpoint.mostElements));
  });
}

void RequestReader::readParsed(const Arriving& arriving) {
  if (!m_options.remoteMedia || !namesNetwork(*arriving.body)) return read(arriving, m_media);
  m_fetchers.start([this, arriving] { readFetching(arriving); });
}

void RequestReader::readFetching(const Arriving& arriving) {
  const auto asker = std::make_shared<InterruptSource>(m_closing.token());
  arriving.answer->whenGone([asker] { asker->request_cancel(); });
  RemoteMedia remote(*m_options.remoteMedia, asker->token());
  read(arriving, m_media.by([&](const std::string& url, const std::string& param) { return remote.fetch(url, param); }));
}

void RequestReader::read(const Arriving& arriving, const RequestMedia& media) {
  readOrLeave(arriving.answer, [&] {
    ModelInfo model = m_uses.model.require();
    return arriving.endpoint.read(*this,
                                  {RequestFields(*arriving.body, ""), arriving.answer, std::move(model), arriving.at, media, arriving});
  });
}

void RequestReader::readOrLeave(const Answer& answer, const std::function<Mailbox::Letter()>& read) {
  Mailbox::Letter then;  // empty: it was refused
  if (!m_closing.token().requested()) m_uses.replies.orRefuse(answer, [&] { then = read(); });
  if (!then) return m_uses.line.leave();
  m_uses.mailbox.post(std::move(then));
}

RequestDefaults RequestReader::defaultsFor(const ModelInfo& model) const {
  RequestDefaults defaults = m_options.defaults;
  defaults.pictures = model.picture_detail;
  defaults.frames = model.frame_detail;
  return defaults;
}

ChatRequest RequestReader::chatOf(const Arrived& arrived) const {
  return chatRequestOf(arrived.body, defaultsFor(arrived.model), arrived.media, m_mediaReader);
}

Mailbox::Letter RequestReader::answerOf(const Arrived& arrived, ChatRequest chat, bool planOnly) {
  requireModel(chat.model, arrived.model);
  if (std::optional<Transcribe> unheard = m_uses.sounds.read(chat)) return wordsOf(arrived, *std::move(unheard));
  if (!chat.lengthGiven && !m_options.lengthGiven) chat.turn.sampling.max_new_tokens = longestUnasked(arrived.model);
  chat.turn.asked = arrived.at;
  return intoLine(arrived, m_uses.answers.answerTo(std::move(chat), arrived.model.name, arrived.answer, planOnly), !planOnly);
}

Mailbox::Letter RequestReader::tokensOf(const Arrived& arrived, TokenRequest tokens) {
  requireModel(tokens.model, arrived.model);
  return intoLine(arrived, m_uses.answers.tokensOf(std::move(tokens), arrived.model.context_tokens, arrived.answer), /*counts=*/false);
}

// Hears a sound of the request, which is then read again.
Mailbox::Letter RequestReader::wordsOf(const Arrived& arrived, Transcribe sound) {
  const auto heard = [this, sound, arriving = arrived.arriving](const Transcribed& words) {
    if (!m_uses.line.enter()) return m_uses.replies.reply(arriving.answer, busyReply());
    m_reader.post([this, sound, arriving, words] {
      m_uses.sounds.keep(sound, words);
      readParsed(arriving);
    });
  };
  return intoLine(arrived, m_uses.answers.wordsOf(sound, arrived.answer, heard), /*counts=*/false);
}

// counts: among those that were asked for an answer.
Mailbox::Letter RequestReader::intoLine(const Arrived& arrived, AnswerLine::Place place, bool counts) {
  return [this, answer = arrived.answer, readFor = arrived.model.name, place = std::move(place), counts] {
    const std::optional<ModelInfo> model = m_uses.model.get();
    if (!model || model->name != readFor) {  // it was changed while this was read
      m_uses.line.leave();
      return m_uses.replies.refuse(answer, modelChanged());
    }
    if (counts) ++m_requests;
    push(answer, place);
  };
}

void RequestReader::push(const Answer& answer, const AnswerLine::Place& place) {
  answer->whenGone([this, place] { m_uses.mailbox.post([this, place] { m_uses.line.gone(place); }); });
  m_uses.line.push(place);
}

}  // namespace winnow::app
