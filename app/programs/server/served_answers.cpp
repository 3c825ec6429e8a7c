#include "app/programs/server/served_answers.h"

#include <QDate>
#include <QDateTime>
#include <QRandomGenerator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/programs/server/answer_writer.h"
#include "app/programs/server/api_options.h"
#include "engine/metrics/kept_figures.h"

namespace winnow::app {
namespace {

constexpr ConversationId kFirstPlainConversation = ConversationId{1} << 63;  // of completions of plain text

std::string today() { return QDate::currentDate().toString(Qt::ISODate).toStdString(); }

std::string newId(AnswerForm form) {
  return (form == AnswerForm::kChat ? "chatcmpl-" : "cmpl-") + QString::number(QRandomGenerator::system()->generate64(), 36).toStdString() +
         QString::number(QRandomGenerator::system()->generate64(), 36).toStdString();
}

}  // namespace

// One request for an answer, from its turn to its last word.
class ServedAnswers::Asked final : public LineRequest {
 public:
  Asked(ServedAnswers& owner, ChatRequest request, AnswerName name, const Answer& answer, bool planOnly)
      : m_owner(owner),
        m_chat(std::move(request)),
        m_planOnly(planOnly),
        m_writer(std::move(name), m_chat, answer, [&replies = owner.m_replies](int status) { replies.answered(status); }) {}

  bool mayBegin() const override { return m_chat.form == AnswerForm::kText || !m_owner.m_threads.mustWait(m_chat.turn); }

  RequestBody begin() override {
    Turn& turn = m_chat.turn;
    if (m_chat.form == AnswerForm::kText)
      turn.conversation = m_owner.plainConversation();
    else
      m_owner.m_threads.choose(turn);
    return m_planOnly ? RequestBody(Plan{turn}) : RequestBody(turn);
  }

  void hear(const Event& event) override {
    if (const auto* report = std::get_if<CacheReport>(&event.body)) m_report = *report;
    if (const auto* token = std::get_if<TokenSampled>(&event.body)) m_writer.hear(*token);
    if (const auto* text = std::get_if<TextDelta>(&event.body)) m_writer.hear(*text);
    if (const auto* finished = std::get_if<Finished>(&event.body)) finish(*finished);
    if (const auto* planned = std::get_if<Planned>(&event.body)) m_writer.send(jsonReply(plannedJson(*planned)));
    if (const auto* failed = std::get_if<Failed>(&event.body)) fail(refusalOf(failed->error));
    if (!ends_request(event)) return;
    if (m_planOnly) m_owner.m_threads.failed(m_chat.turn.conversation);
    m_owner.ended(m_chat.turn.conversation);
  }

  void turnAway(const ApiRefusal& refusal) override { m_writer.fail(refusal); }

 private:
  void finish(const Finished& finished) {
    if (finished.restored) return fail(modelChanged());
    m_owner.m_threads.answered(m_chat.turn, finished.answer, memory_bytes(finished.figures.kv_bytes));
    m_owner.m_replies.tokens(finished.figures.tokens.prompt, finished.figures.tokens.generated);
    m_writer.finish(finished, usageJson(finished, m_report ? &*m_report : nullptr, m_chat.ignored));
  }

  void fail(const ApiRefusal& refusal) {
    m_owner.m_threads.failed(m_chat.turn.conversation);
    m_writer.fail(refusal);
  }

  ServedAnswers& m_owner;
  ChatRequest m_chat;
  const bool m_planOnly;
  AnswerWriter m_writer;
  std::optional<CacheReport> m_report;
};

// One request for tokens, or for their text.
class ServedAnswers::AskedTokens final : public LineRequest {
 public:
  AskedTokens(ServedAnswers& owner, TokenRequest request, std::int64_t contextTokens, Answer answer)
      : m_owner(owner), m_tokens(std::move(request)), m_contextTokens(contextTokens), m_answer(std::move(answer)) {}

  // For a thread: the prompt that it has now, on the day of the conversation that it goes on with.
  RequestBody begin() override {
    if (!m_tokens.chat) return m_tokens.body;
    Turn turn = *m_tokens.chat;
    turn.prompt.day = today();
    turn.prompt.day = m_owner.m_threads.dayOf(turn);
    return Tokenize{std::move(turn.messages), std::move(turn.prompt)};
  }

  void hear(const Event& event) override {
    if (const auto* told = std::get_if<Tokenized>(&event.body))
      m_owner.m_replies.reply(m_answer, jsonReply(tokenizedJson(m_tokens, *told, m_contextTokens)));
    if (const auto* failed = std::get_if<Failed>(&event.body)) turnAway(refusalOf(failed->error));
    if (std::holds_alternative<Finished>(event.body)) turnAway(modelChanged());
  }

  void turnAway(const ApiRefusal& refusal) override { m_owner.m_replies.refuse(m_answer, refusal); }

 private:
  ServedAnswers& m_owner;
  const TokenRequest m_tokens;
  const std::int64_t m_contextTokens;
  const Answer m_answer;
};

// One sound that is heard.
class ServedAnswers::AskedWords final : public LineRequest {
 public:
  AskedWords(ServedAnswers& owner, Transcribe sound, Answer answer, std::function<void(const Transcribed&)> heard)
      : m_owner(owner), m_sound(std::move(sound)), m_answer(std::move(answer)), m_heard(std::move(heard)) {}

  RequestBody begin() override { return m_sound; }

  void hear(const Event& event) override {
    if (const auto* heard = std::get_if<Transcribed>(&event.body)) m_heard(*heard);
    if (const auto* failed = std::get_if<Failed>(&event.body)) turnAway(refusalOf(failed->error));
    if (std::holds_alternative<Finished>(event.body)) turnAway(modelChanged());
  }

  void turnAway(const ApiRefusal& refusal) override { m_owner.m_replies.refuse(m_answer, refusal); }

 private:
  ServedAnswers& m_owner;
  const Transcribe m_sound;
  const Answer m_answer;
  const std::function<void(const Transcribed&)> m_heard;
};

ServedAnswers::ServedAnswers(EngineHost& engine, CountedReplies& replies, std::int64_t keptBytes)
    : m_engine(engine), m_replies(replies), m_threads(kFirstServedConversation, keptBytes), m_lastPlain(kFirstPlainConversation) {}

AnswerLine::Place ServedAnswers::answerTo(ChatRequest request, const std::string& model, const Answer& answer, bool planOnly) {
  Turn& turn = request.turn;
  turn.prompt.day = today();
  AnswerName name{newId(request.form), QDateTime::currentSecsSinceEpoch(), model, request.form};
  if (turn.sampling.temperature > 0.0) name.seed = static_cast<std::int64_t>(turn.sampling.seed);
  return std::make_shared<Asked>(*this, std::move(request), std::move(name), answer, planOnly);
}

AnswerLine::Place ServedAnswers::tokensOf(TokenRequest request, std::int64_t contextTokens, const Answer& answer) {
  return std::make_shared<AskedTokens>(*this, std::move(request), contextTokens, answer);
}

AnswerLine::Place ServedAnswers::wordsOf(Transcribe sound, const Answer& answer, std::function<void(const Transcribed& heard)> heard) {
  return std::make_shared<AskedWords>(*this, std::move(sound), answer, std::move(heard));
}

ConversationId ServedAnswers::plainConversation() { return ++m_lastPlain; }

void ServedAnswers::ended(ConversationId conversation) {
  if (conversation > kFirstPlainConversation) m_engine.post(ForgetConversation{conversation});
  for (const ConversationId old : m_threads.tooMany()) m_engine.post(ForgetConversation{old});
  m_replies.kept(m_threads.bytes());
}

}  // namespace winnow::app
