#include "ui/shell/answer_check.h"

#include <algorithm>

#include "ui/words/display_text.h"

namespace winnow::ui {

AnswerCheck::AnswerCheck(app::EngineHost& engine, ChatController& chat, QObject* parent) : QObject(parent), m_engine(engine), m_chat(chat) {
  connect(&m_chat, &ChatController::modelChanged, this, [this] {
    if (m_chat.modelState() == ModelState::kLoading) stop();
  });
}

const app::StoredMessage* AnswerCheck::find(app::MessageId answer) const {
  const QList<app::StoredMessage> branch = m_chat.branch();
  const auto found = std::find_if(branch.rbegin(), branch.rend(), [answer](const app::StoredMessage& message) {
    return message.role == Role::kAssistant && message.hasRun && !message.text.isEmpty() && (answer == 0 || message.id == answer);
  });
  return found == branch.rend() ? nullptr : m_chat.storedMessage(found->id);
}

bool AnswerCheck::canCheck() const { return find(0) != nullptr; }

void AnswerCheck::check(app::MessageId answer) {
  const app::StoredMessage* message = find(answer);
  if (message == nullptr || m_chat.busy() || !m_chat.blockedReason().isEmpty()) return;
  if (message->run.modelFolder != QString::fromStdString(m_chat.model().folder)) {
    Q_EMIT refused(tr("Another model wrote this answer (%1). Load it to check the answer.").arg(displayText(message->run.modelName)));
    return;
  }
  Score score;
  try {
    score.turn = m_chat.turnOf(m_chat.current(), m_chat.threadTo(message->parent), m_chat.options(), message->run.recipe.spec);
  } catch (const Exception& exception) {
    Q_EMIT problem(exception.error());
    return;
  }
  score.answer = message->text.toStdString();
  m_conversation = m_chat.current();
  m_answer = message->id;
  m_request = m_engine.post(std::move(score), this, [this](const Event& event) { onEvent(event); });
  m_chat.setOccupied(tr("An answer is being checked against the full cache."));
  Q_EMIT progressed(m_answer, tr("Checking against the full cache"), -1.0);
  Q_EMIT stateChanged();
}

void AnswerCheck::stop() {
  if (running()) m_engine.stop(m_request);
}

void AnswerCheck::onEvent(const Event& event) {
  if (const auto* progress = std::get_if<Progress>(&event.body)) {
    Q_EMIT progressed(m_answer, tr("Checking: %1").arg(phaseText(progress->phase, progress->done, progress->total)),
                      phaseShare(progress->done, progress->total));
  } else if (const auto* scored = std::get_if<Scored>(&event.body)) {
    end();
    m_chat.setAgreement(m_answer, scored->agreement);
  } else if (const auto* failed = std::get_if<Failed>(&event.body)) {
    end();
    Q_EMIT problem(failed->error);
  } else if (std::holds_alternative<Finished>(event.body)) {
    end();
  }
}

void AnswerCheck::end() {
  m_request = 0;
  Q_EMIT progressed(m_answer, QString(), -1.0);
  m_chat.setOccupied(QString());
  Q_EMIT stateChanged();
}

}  // namespace winnow::ui
