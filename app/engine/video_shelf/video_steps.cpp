#include "app/engine/video_shelf/video_steps.h"

#include <QCryptographicHash>
#include <QtEndian>
#include <utility>

#include "app/ground/recipes/recipe_json.h"

namespace winnow::app {

ConversationId keptNumber(const UnreadVideo& video) {
  QCryptographicHash made(QCryptographicHash::Sha256);
  const auto add = [&made](const std::string& part) { made.addData(QByteArray::fromStdString(part) + '\n'); };
  add(video.content);
  add(video.model);
  add(recipeToJson({"", video.turn.recipe}, -1));
  for (const Message& message : video.turn.messages) {
    for (const Item& item : message.items) {
      if (const auto* words = std::get_if<TextItem>(&item)) add(words->text);
      const auto* medium = std::get_if<MediaItem>(&item);
      if (medium == nullptr) continue;
      const FramePlan& plan = medium->media.plan;
      for (const std::string& part : {medium->media.subtitles, detail_word(medium->media.detail), std::to_string(plan.frame_count),
                                      std::to_string(plan.every_s), std::to_string(plan.from_s), std::to_string(plan.to_s)})
        add(part);
    }
  }
  return qFromBigEndian<quint64>(made.result().constData()) | 1;
}

VideoSteps::VideoSteps(ConversationCaches& caches, UnreadVideo video, std::optional<PutQuestion> question)
    : m_caches(caches), m_video(std::move(video)), m_question(std::move(question)), m_number(keptNumber(m_video)), m_turn(m_video.turn) {}

std::optional<RequestBody> VideoSteps::next() {
  switch (m_step) {
    case Step::kBegin:
      if (!m_caches.has(m_number)) return prepare();
      m_wasKept = !m_question;
      if (m_wasKept) return std::nullopt;
      m_step = Step::kLoad;
      return LoadConversation{m_turn.conversation, m_caches.pathOf(m_number), m_video.model};
    case Step::kLoad:
      if (m_wasKept) {
        m_caches.used(m_number);
        return ask(Step::kWhether, m_question->whether);
      }
      m_caches.remove(m_number);  // it does not fit any more: the video is read again
      return prepare();
    case Step::kPrepare:
      if (!m_compressed || !m_caches.keeps()) break;
      m_step = Step::kSave;
      return SaveConversation{m_turn.conversation, m_caches.pathToWrite(m_number), m_video.model};
    case Step::kSave:
      if (m_saved) m_caches.written(m_number);
      break;
    case Step::kWhether:
      if (m_answer.verdict != Verdict::kYes || m_question->when.empty() || !m_answer.timesS.empty()) return std::nullopt;
      return ask(Step::kWhen, m_question->when);
    case Step::kWhen:
    case Step::kEnd: return std::nullopt;
  }
  return m_question ? ask(Step::kWhether, m_question->whether) : std::nullopt;
}

RequestBody VideoSteps::prepare() {
  m_step = Step::kPrepare;
  return Prepare{m_turn};
}

std::optional<RequestBody> VideoSteps::ask(Step step, const std::string& question) {
  m_step = step;
  if (m_turn.messages.back().role == Role::kAssistant) m_turn.messages.push_back({Role::kUser, {}});
  m_turn.messages.back().items.emplace_back(TextItem{question});
  return m_turn;
}

void VideoSteps::take(const EventBody& event) {
  if (const auto* restored = std::get_if<Restored>(&event)) {
    m_wasKept = !restored->prepared.empty();
    if (!m_wasKept) return;
    m_turn.messages = restored->prepared;
    m_turn.recipe = restored->recipe;
    m_turn.pins = restored->pins;
    m_turn.prompt.day = restored->prompt.day;
  } else if (const auto* prepared = std::get_if<Prepared>(&event)) {
    m_compressed = prepared->compressed;
  } else if (const auto* saved = std::get_if<Saved>(&event)) {
    m_saved = saved->kv_bytes > 0;
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    takeAnswer(*finished);
  } else if (const auto* failed = std::get_if<Failed>(&event); failed != nullptr && m_step != Step::kLoad) {
    m_error = failed->error;
    m_step = Step::kEnd;
  }
}

void VideoSteps::takeAnswer(const Finished& finished) {
  m_interrupted = finished.restored || finished.reason == StopReason::kInterrupted;
  if (m_interrupted) {
    m_step = Step::kEnd;
    return;
  }
  m_turn.messages.push_back({Role::kAssistant, {TextItem{finished.answer}}, finished.thought});
  m_answer.timesS = timesIn(finished.answer, m_video.durationS);
  if (m_step != Step::kWhether) return;
  m_answer.text = finished.answer;
  m_answer.verdict = verdictOf(finished.answer);
}

}  // namespace winnow::app
