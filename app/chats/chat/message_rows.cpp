#include "app/chats/chat/message_rows.h"

#include <QDateTime>
#include <algorithm>
#include <utility>
#include <vector>

#include "app/chats/chat/chat_rows.h"

namespace winnow::app {

qint64 nowMs() { return QDateTime::currentMSecsSinceEpoch(); }

void checkText(const QString& text, const char* what) {
  // Three UTF-8 bytes per UTF-16 unit at most: the exact size is only computed when it matters.
  if (text.size() > kMaxMessageBytes || (text.size() * 3 > kMaxMessageBytes && text.toUtf8().size() > kMaxMessageBytes))
    throw Exception(ErrorCode::kLimitExceeded, what, "it is longer than 4 MiB");
}

void checkAttachments(const QList<Attachment>& attachments) {
  if (attachments.size() > kMaxAttachments)
    throw Exception(ErrorCode::kLimitExceeded, "attachments", "there are more than " + std::to_string(kMaxAttachments));
  for (const Attachment& attachment : attachments) {
    if (attachment.path.isEmpty() || attachment.path.contains('\0'))
      throw Exception(ErrorCode::kInvalidArgument, "attachment", "it has no usable file name");
  }
}

MessageId insertMessage(SqliteConnection& db, ConversationId conversation, MessageId parent, Role role, MessageState state,
                        const QString& text) {
  const qint64 tick = nextTick(db);
  db.prepare("INSERT INTO message(conversation_id, parent_id, sequence, role, state, text, created_ms) VALUES(?, ?, ?, ?, ?, ?, ?)")
      .bind(conversation)
      .bindIdOrNull(parent)
      .bind(tick)
      .bind(static_cast<int>(role))
      .bind(static_cast<int>(state))
      .bind(text)
      .bind(nowMs())
      .run();
  return db.lastInsertId();
}

void insertExported(SqliteConnection& db, const ExportedChat& chat, const ConversationOptions& options) {
  Conversation inserted{
      .title = chat.title, .createdMs = chat.createdMs, .updatedMs = std::max(chat.createdMs, chat.updatedMs), .options = options};
  {
    // It stands behind the chats that were written to later; those with the same number go by their times.
    SqliteStatement before = db.prepare("SELECT coalesce(max(activity), 0) FROM conversation WHERE updated_ms <= ?");
    if (before.bind(inserted.updatedMs).step()) inserted.activity = before.integer(0);
  }
  const ConversationId id = insertConversation(db, inserted);
  MessageId leaf = 0;
  for (const ExportedMessage& message : chat.messages) {
    leaf = insertMessage(db, id, leaf, message.role, MessageState::kComplete, message.text);
    indexForSearch(db, leaf, message.text);
    if (message.role != Role::kAssistant) continue;
    db.prepare("UPDATE message SET thought = ? WHERE id = ?").bind(message.thought).bind(leaf).run();
    Run run{.modelName = message.writer, .device = QStringLiteral("server")};
    if (!message.writer.isEmpty()) insertRun(db, leaf, run, RunPart::kCause);
  }
  db.prepare("UPDATE conversation SET preview = ?, active_leaf = ?, message_count = ? WHERE id = ?")
      .bind(firstWords(chat.messages.first().text, {}))
      .bind(leaf)
      .bind(static_cast<qint64>(chat.messages.size()))
      .bind(id)
      .run();
}

void touchConversation(SqliteConnection& db, ConversationId id, MessageId leaf, int addedMessages) {
  const qint64 tick = nextTick(db);
  db.prepare("UPDATE conversation SET active_leaf = ?, message_count = message_count + ?, activity = ?, updated_ms = ? WHERE id = ?")
      .bind(leaf)
      .bind(addedMessages)
      .bind(tick)
      .bind(nowMs())
      .bind(id)
      .run();
}

void replaceDraft(SqliteConnection& db, ConversationId id, const Draft& draft) {
  db.prepare("UPDATE conversation SET draft = ? WHERE id = ?").bind(draft.text).bind(id).run();
  deleteDraftAttachments(db, id);
  insertAttachments(db, id, 0, draft.attachments);
}

void callBy(SqliteConnection& db, const Conversation& conversation, const QString& text, const QList<Attachment>& attachments) {
  if (conversation.messageCount > 0) return;
  db.prepare("UPDATE conversation SET preview = ? WHERE id = ?").bind(firstWords(text, attachments)).bind(conversation.id).run();
}

void checkQuestion(const NewQuestion& question) {
  checkText(question.text, "question");
  checkAttachments(question.attachments);
  if (question.text.isEmpty() && question.attachments.isEmpty())
    throw Exception(ErrorCode::kInvalidArgument, "question", "it has neither text nor attachments");
}

MessageId insertQuestion(SqliteConnection& db, const Conversation& conversation, const NewQuestion& question) {
  if (question.parent != 0) {
    SqliteStatement parent = db.prepare("SELECT 1 FROM message WHERE id = ? AND conversation_id = ?");
    if (!parent.bind(question.parent).bind(conversation.id).step())
      throw Exception(ErrorCode::kInvalidArgument, "message", "there is none with this id");
  }
  const MessageId made = insertMessage(db, conversation.id, question.parent, Role::kUser, MessageState::kComplete, question.text);
  indexForSearch(db, made, question.text);
  insertAttachments(db, conversation.id, made, question.attachments);
  replaceDraft(db, conversation.id, {});
  callBy(db, conversation, question.text, question.attachments);
  return made;
}

void removeBegun(SqliteConnection& db, MessageId answer, MessageId leaf) {
  db.prepare(
        "UPDATE conversation SET active_leaf = ?, message_count = message_count - 1 "
        "WHERE id = (SELECT conversation_id FROM message WHERE id = ?)")
      .bind(leaf)
      .bind(answer)
      .run();
  db.prepare("DELETE FROM message WHERE id = ?").bind(answer).run();
}

void removeBegunForNothing(SqliteConnection& db) {
  std::vector<std::pair<MessageId, MessageId>> begun;  // and the answer that it added nothing to
  {
    SqliteStatement row = db.prepare(
        "SELECT m.id, max(e.id) FROM message m JOIN message e ON e.parent_id = m.parent_id AND e.role = m.role AND e.id < m.id "
        "WHERE m.state = 2 AND e.state <> 2 AND ((m.text = '' AND m.thought = '') OR (m.text = e.text AND m.thought = e.thought)) "
        "GROUP BY m.id");
    while (row.step()) begun.emplace_back(row.integer(0), row.integer(1));
  }
  for (const auto& [answer, earlier] : begun) removeBegun(db, answer, newestUnder(db, earlier));
}

MessageId newestUnder(SqliteConnection& db, MessageId message) {
  SqliteStatement row = db.prepare(
      "WITH RECURSIVE under(id) AS (SELECT ? UNION ALL SELECT m.id FROM message m JOIN under u ON m.parent_id = u.id) "
      "SELECT m.id FROM message m JOIN under u ON u.id = m.id ORDER BY m.sequence DESC LIMIT 1");
  return row.bind(message).step() ? row.integer(0) : message;
}

}  // namespace winnow::app
