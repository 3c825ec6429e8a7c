// Rows of the conversation database to values and back: no transactions, no rules.
//
// Used by ChatDatabase only. Threads: that of the connection.
#pragma once

#include <optional>

#include "app/chats/chat/conversation.h"
#include "app/chats/chat/sqlite_connection.h"

namespace winnow::app {

inline constexpr char kConversationColumns[] =
    "id, title, created_ms, updated_ms, activity, deleted_ms, pinned, message_count, preview, active_leaf, method, retention, "
    "frame_count, system_prompt, recipe_json, later_questions, sampling_json";

// `row` stands on a row of kConversationColumns.
Conversation readConversation(const SqliteStatement& row);
std::optional<Conversation> findConversation(SqliteConnection& db, ConversationId id);
// Binds method, retention, frame_count, system_prompt, recipe_json, later_questions and sampling_json, in this order.
SqliteStatement& bindOptions(SqliteStatement& statement, const ConversationOptions& options);
// Without messages: title, times, activity and options.
ConversationId insertConversation(SqliteConnection& db, const Conversation& conversation);
QList<StoredMessage> readMessages(SqliteConnection& db, ConversationId id);  // with attachments and runs, without thumbnails
QList<Attachment> readDraftAttachments(SqliteConnection& db, ConversationId id);
MediaKind mediaKindFrom(qint64 stored);

// The files of chats that were deleted before then: path, hash and size.
QList<Attachment> readFilesOf(SqliteConnection& db, qint64 deletedBeforeMs);
bool isAttached(SqliteConnection& db, const Attachment& file);

// message 0: the draft's.
void insertAttachments(SqliteConnection& db, ConversationId id, MessageId message, const QList<Attachment>& attachments);
void deleteDraftAttachments(SqliteConnection& db, ConversationId id);
// A file of a chat is somewhere else: wherever it is attached there, also as another one's subtitles.
void moveAttachments(SqliteConnection& db, ConversationId id, const QByteArray& from, const QByteArray& to);
enum class RunPart : int { kCause = 1, kAll = 2 };
// In the place of what was saved of it.
void insertRun(SqliteConnection& db, MessageId message, const Run& run, RunPart part);
void insertKeptMap(SqliteConnection& db, MessageId message, const KeptMap& map);  // not one above KeptMap::kMaxBytes
SharedKeptMap readKeptMap(SqliteConnection& db, MessageId message);               // null: none, or of a newer version
void indexForSearch(SqliteConnection& db, MessageId message, const QString& text);
qint64 nextTick(SqliteConnection& db);

}  // namespace winnow::app
