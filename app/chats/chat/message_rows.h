// Writing messages into the tree of a chat: what may be written, and the rows it becomes.
//
// Used by ChatDatabase only, inside its transactions. Errors: Exception(kInvalidArgument, kLimitExceeded) for what may not be saved, and
// the connection's. Threads: that of the connection.
#pragma once

#include "app/chats/chat/conversation.h"
#include "app/chats/chat/exported_chats.h"
#include "app/chats/chat/sqlite_connection.h"

namespace winnow::app {

// The time that rows are dated with.
qint64 nowMs();

// what: named by the error.
void checkText(const QString& text, const char* what);
void checkAttachments(const QList<Attachment>& attachments);
void checkQuestion(const NewQuestion& question);

// A new message; its id.
MessageId insertMessage(SqliteConnection& db, ConversationId conversation, MessageId parent, Role role, MessageState state,
                        const QString& text);
// The draft becomes this question.
MessageId insertQuestion(SqliteConnection& db, const Conversation& conversation, const NewQuestion& question);
void replaceDraft(SqliteConnection& db, ConversationId id, const Draft& draft);
// A chat that nothing was asked in yet is called by what it begins with.
void callBy(SqliteConnection& db, const Conversation& conversation, const QString& text, const QList<Attachment>& attachments);
// A chat of another program, finished as it is.
void insertExported(SqliteConnection& db, const ExportedChat& chat, const ConversationOptions& options);
// The chat was written to: it ends in `leaf` and is the newest.
void touchConversation(SqliteConnection& db, ConversationId id, MessageId leaf, int addedMessages);
// An answer that is still being written goes, as if it had not been begun: the chat ends in `leaf` again.
void removeBegun(SqliteConnection& db, MessageId answer, MessageId leaf);
// The same for every answer that was being written and added nothing to an earlier one of its question. How many those were is not told.
void removeBegunForNothing(SqliteConnection& db);
// The newest message of those under it, or itself.
MessageId newestUnder(SqliteConnection& db, MessageId message);

}  // namespace winnow::app
