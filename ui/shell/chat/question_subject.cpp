#include "ui/shell/chat/question_subject.h"

#include <algorithm>

#include "ui/shell/chat/open_chat.h"

namespace winnow::ui {
namespace {

bool isSource(const app::Attachment& attachment, const app::Attachment& source) {
  return attachment.path == source.path && attachment.kind == source.kind && attachment.plan == source.plan;
}

}  // namespace

void QuestionSubject::setWatched(const std::optional<WatchedSource>& source) {
  m_watched = source;
  Q_EMIT changed();
}

bool QuestionSubject::watchesHere() const { return m_watched && m_watched->conversation == m_chat.id(); }

std::optional<app::NamedRecipe> QuestionSubject::watchedRecipe() const {
  return watchesHere() ? std::optional(m_watched->recipe) : std::nullopt;
}

// Alone in its thread: what was asked before is not part of what was seen, and the engine's cache of it begins with the source.
AskedQuestion QuestionSubject::aboutWatched(const QString& text) const {
  app::StoredMessage message{.role = Role::kUser, .text = text, .attachments = {m_watched->attachment}};
  return {m_watched->conversation, {message}, m_watched->recipe, /*alone=*/true};
}

QString QuestionSubject::blockedReason() const {
  return watchesHere() && !m_watched->seen ? tr("Nothing has arrived from the source yet.") : QString();
}

QList<app::Attachment> QuestionSubject::savedWith(const QList<app::Attachment>& attached) const {
  return watchesHere() ? QList{m_watched->attachment} : attached;
}

QList<app::Attachment> QuestionSubject::attachedOf(const QList<app::Attachment>& saved) const {
  QList<app::Attachment> attached = saved;
  if (watchesHere()) attached.removeIf([this](const app::Attachment& each) { return isSource(each, m_watched->attachment); });
  return attached;
}

AskedQuestion QuestionSubject::asked(ConversationId conversation, const QList<app::StoredMessage>& thread,
                                     const app::NamedRecipe& recipe) const {
  if (isWatched(conversation, thread.last())) return aboutWatched(thread.last().text);
  return {conversation, thread, recipe};
}

void QuestionSubject::gather(ConversationId conversation, const app::StoredMessage& question, std::function<void()> then) const {
  if (!m_catchUp || !isWatched(conversation, question)) return then();
  m_catchUp(std::move(then));
}

bool QuestionSubject::isWatched(ConversationId conversation, const app::StoredMessage& question) const {
  if (!m_watched || !m_watched->seen || m_watched->conversation != conversation) return false;
  return std::any_of(question.attachments.begin(), question.attachments.end(),
                     [this](const app::Attachment& each) { return isSource(each, m_watched->attachment); });
}

}  // namespace winnow::ui
