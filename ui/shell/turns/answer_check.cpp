#include "ui/shell/turns/answer_check.h"

#include <algorithm>

#include "app/words/display_text.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/composer/composer.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/abilities.h"

namespace winnow::ui {

AnswerCheck::AnswerCheck(const WindowServices& services, ChatSession& session, TranscriptView& transcript, Composer& composer,
                         QObject* parent)
    : QObject(parent),
      m_engine(services.engine),
      m_store(services.store),
      m_session(session),
      m_transcript(transcript),
      m_composer(composer) {
  connect(&m_transcript, &TranscriptView::checkRequested, this, &AnswerCheck::check);
  connect(&m_session.model, &ModelSession::aboutToLoad, this, &AnswerCheck::stop);
}

const app::StoredMessage* AnswerCheck::find(app::MessageId answer) const {
  const QList<app::StoredMessage> branch = m_session.chat.branch();
  const auto found = std::find_if(branch.rbegin(), branch.rend(), [answer](const app::StoredMessage& message) {
    return message.role == Role::kAssistant && message.hasRun && !message.text.isEmpty() && (answer == 0 || message.id == answer);
  });
  return found == branch.rend() ? nullptr : m_session.chat.message(found->id);
}

bool AnswerCheck::canCheck() const { return find(0) != nullptr && lackText(m_session.model, Ability::kScore).isEmpty(); }

void AnswerCheck::check(app::MessageId answer) {
  const app::StoredMessage* message = find(answer);
  if (message == nullptr || !m_session.answers.canSend()) return;
  if (const QString lack = lackText(m_session.model, Ability::kScore); !lack.isEmpty()) return m_composer.showNotice(lack);
  if (message->run.modelFolder != QString::fromStdString(m_session.model.info().folder)) {
    m_composer.showNotice(
        tr("Another model wrote this answer (%1). Load it to check the answer.").arg(app::displayText(message->run.modelName)));
    return;
  }
  if (!message->run.begunBy.isEmpty()) {
    m_composer.showNotice(tr("More than one model wrote this answer: it cannot be checked against one full cache."));
    return;
  }
  Score score;
  try {
    score.turn = m_session.answers.turnOf(m_session.chat.id(), m_session.chat.threadTo(message->parent), m_session.chat.options(),
                                          message->run.recipe.spec);
    score.turn.guard = message->run.guard;
    score.turn.sampling = with_choice(Sampling(), message->run.sampling);
    score.turn.prompt.thinking = thinking_of(score.turn.sampling);
  } catch (const Exception& exception) {
    Q_EMIT problem(exception.error(), message->id);
    return;
  }
  score.answer = message->text.toStdString();
  score.thought = message->thought.toStdString();
  score.ended = message->state == app::MessageState::kComplete ? message->run.stopReason : StopReason::kInterrupted;
  m_conversation = m_session.chat.id();
  m_answer = message->id;
  m_request = m_engine.post(std::move(score), this, [this](const Event& event) { onEvent(event); });
  m_session.answers.setOccupied(tr("An answer is being checked against the full cache."));
  m_transcript.setPhase(m_answer, tr("Checking against the full cache"), -1.0);
  Q_EMIT stateChanged();
}

void AnswerCheck::stop() {
  if (running()) m_engine.stop(m_request);
}

void AnswerCheck::onEvent(const Event& event) {
  if (const auto* progress = std::get_if<Progress>(&event.body)) {
    m_transcript.setPhase(m_answer, tr("Checking: %1").arg(phaseText(progress->phase, progress->done, progress->total)),
                          phaseShare(progress->done, progress->total));
  } else if (const auto* scored = std::get_if<Scored>(&event.body)) {
    end();
    m_store.saveAgreement(m_answer, scored->agreement);
    if (app::StoredMessage* message = m_session.chat.edit(m_answer)) message->run.agreement = scored->agreement;
    m_session.chat.tellChanged(m_answer);
  } else if (const auto* failed = std::get_if<Failed>(&event.body)) {
    end();
    Q_EMIT problem(failed->error, m_answer);
  } else if (std::holds_alternative<Finished>(event.body)) {
    end();
  }
}

void AnswerCheck::end() {
  m_request = 0;
  m_transcript.setPhase(m_answer, QString(), -1.0);
  m_session.answers.setOccupied(QString());
  Q_EMIT stateChanged();
}

}  // namespace winnow::ui
