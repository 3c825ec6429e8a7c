// What turns, comparisons and checks have in common, and what the latter two tell the chat; the rest of ChatController is in
// chat_controller.cpp.
#include "app/engine_host/turn_builder.h"
#include "ui/shell/chat_controller.h"

namespace winnow::ui {

Turn ChatController::turnOf(ConversationId conversation, const QList<app::StoredMessage>& thread, const app::ConversationOptions& options,
                            const RecipeSpec& recipe) const {
  app::TurnOptions turnOptions;
  turnOptions.recipe = recipe;
  turnOptions.sampling.max_new_tokens = m_settings.maxNewTokens();
  turnOptions.systemPrompt = options.systemPrompt;
  return app::buildTurn(conversation, thread, turnOptions);
}

QList<app::StoredMessage> ChatController::threadBefore() const {
  const app::StoredMessage* edited = storedMessage(m_editing);
  return app::branchTo(m_current.messages, edited != nullptr ? edited->parent : m_current.conversation.activeLeaf);
}

Turn ChatController::turnIfSent(const app::Draft& draft) const {
  app::StoredMessage question;
  question.role = Role::kUser;
  question.text = draft.text;
  question.attachments = draft.attachments;
  QList<app::StoredMessage> thread = threadBefore();
  thread.append(question);
  return turnOf(current(), thread, options(), options().recipe.spec);
}

QList<app::StoredMessage> ChatController::branch() const { return threadTo(m_current.conversation.activeLeaf); }
QList<app::StoredMessage> ChatController::threadTo(app::MessageId message) const { return app::branchTo(m_current.messages, message); }

app::RequestToken ChatController::reload() {
  if (current() != 0) m_loading = m_store.loadConversation(current());
  return m_loading;
}

void ChatController::setOccupied(const QString& reason) {
  m_occupied = reason;
  Q_EMIT stateChanged();
}

void ChatController::setComparing(app::MessageId question) {
  const app::MessageId before = std::exchange(m_comparing, question);
  for (const app::MessageId id : {before, question}) {
    if (const app::StoredMessage* message = storedMessage(id)) Q_EMIT messageChanged(contentOf(*message));
  }
}

void ChatController::addComparison(const app::Comparison& comparison) {
  const app::StoredMessage* question = storedMessage(comparison.question);
  if (question == nullptr) return;
  m_current.comparisons.append(comparison);
  Q_EMIT messageChanged(contentOf(*question));
}

void ChatController::setAgreement(app::MessageId answer, const Agreement& agreement) {
  m_store.saveAgreement(answer, agreement);
  app::StoredMessage* message = stored(answer);
  if (message == nullptr) return;
  message->run.agreement = agreement;
  Q_EMIT messageChanged(contentOf(*message));
}

// The engine names a medium by what was requested of it; the same file with the same plan was sampled alike wherever it is attached.
void ChatController::takeSampled(const MediaSampled& sampled, QList<app::StoredMessage>& thread) {
  if (sampled.kind != MediaKind::kVideo) return;
  const app::SampledTimes times{sampled.asked_s, sampled.actual_s};
  for (app::StoredMessage& message : thread) {
    bool changed = false;
    for (int place = 0; place < message.attachments.size(); ++place) {
      app::Attachment& attachment = message.attachments[place];
      const bool same =
          attachment.path == QByteArray::fromStdString(sampled.path) && attachment.kind == sampled.kind && attachment.plan == sampled.plan;
      if (!same || attachment.sampled == times) continue;
      attachment.sampled = times;
      m_store.storeSampled(message.id, place, times);
      changed = true;
    }
    app::StoredMessage* shown = changed ? stored(message.id) : nullptr;
    if (shown == nullptr) continue;
    shown->attachments = message.attachments;
    Q_EMIT messageChanged(contentOf(*shown));
  }
}

}  // namespace winnow::ui
