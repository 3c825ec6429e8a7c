// The conversation database, synchronous: every statement that touches the saved chats is here.
//
// Used by ChatStore's writer thread, by the terminal program and by tests; never called on the UI thread. One object = one process-wide
// lock on the folder + one SQLite connection (WAL, synchronous=FULL, foreign keys, defensive). When a writing call returns, its change is
// on the disk. Each call is one transaction: it happens wholly or not at all.
// Errors: winnow::Exception with a storage code (database, disk, lock), kInvalidArgument (unknown id), kLimitExceeded (caps of
// conversation.h). After a failed write the connection is reopened before the next call (an fsync that failed once may not be trusted).
// Threads: confined to one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "app/chats/chat/conversation.h"
#include "app/chats/chat/exported_chats.h"

namespace winnow::app {

struct ChatFolders {
  QString data;   // holds winnow.db and its lock; made if missing
  QString cache;  // thumbnails; may be cleared at any time
};

// Chats of another program, by what became of them.
struct ImportedChats {
  int chats = 0;
  int there = 0;    // had been imported before: same title and time
  int tooLong = 0;  // left out: a message is longer than one may be
};

struct PurgedChats {
  int chats = 0;
  QList<Attachment> files;  // that no chat has any more: path, hash and size
};

struct AnswerOfChat {
  ConversationId chat = 0;
  MessageId answer = 0;
};

struct AnswerOfComparison {
  qint64 comparison = 0;
  int place = 0;
};

class ChatDatabase {
 public:
  // Opens or makes data/winnow.db, checks it (application_id, version, quick_check), migrates, and turns rows left `streaming` into
  // `abandoned`. A corrupt, foreign or newer file throws and stays as it is. `vfs`: SQLite VFS name for tests; empty: default.
  explicit ChatDatabase(const ChatFolders& folders, const QByteArray& vfs = {});
  ~ChatDatabase();
  ChatDatabase(const ChatDatabase&) = delete;
  ChatDatabase& operator=(const ChatDatabase&) = delete;

  // For when the folder cannot be used: whatever can be read of the file, in memory. Nothing is written anywhere, and there is no lock.
  static std::unique_ptr<ChatDatabase> inMemory(const ChatFolders& folders);

  // Renames winnow.db and its companions to winnow.db.aside-N (first free N). Returns the new path. Only when asked by the user.
  static QString setAside(const ChatFolders& folders);

  Conversation createConversation(const QString& title, const ConversationOptions& options);
  // Each stands in the list by its own time. options: with which they would go on.
  ImportedChats importChats(const QList<ExportedChat>& exported, const ConversationOptions& options);
  Conversation renameConversation(ConversationId id, const QString& title);
  Conversation setPinned(ConversationId id, bool pinned);
  Conversation setOptions(ConversationId id, const ConversationOptions& options);
  // withdrawn: an answer that is still `streaming` and was not begun after all: it goes; 0: none.
  Conversation setActiveLeaf(ConversationId id, MessageId leaf, MessageId withdrawn = 0);
  void deleteConversation(ConversationId id);  // soft: restore brings it back
  Conversation restoreConversation(ConversationId id);
  // Removes for good, with the small pictures and lines of files that no chat has any more.
  PurgedChats purgeDeletedBefore(qint64 deletedBeforeMs);
  enum class Listed : int { kThere = 1, kDeleted = 2 };
  // Those that are there: pinned first, then newest first. Deleted ones: newest deletion first.
  QList<Conversation> listConversations(Listed which = Listed::kThere);
  Conversation conversation(ConversationId id);
  LoadedConversation loadConversation(ConversationId id);
  // Every word of `query` must occur (prefixes count); the query is taken literally. At most `limit` hits, best first.
  // An answer in place of words finds the lines of its chat's files that fit it best (chat_search.h).
  QList<SearchHit> search(const std::variant<QString, AnswerOfChat>& query, int limit = 50);

  // Stores the question, its attachments and an empty `streaming` answer; clears the draft. One transaction.
  TurnIds beginTurn(const NewQuestion& question);
  // The same without an answer, for a comparison: the question is the end of the branch.
  TurnIds beginQuestion(const NewQuestion& question);
  // A comparison that has ended, with its id.
  Comparison saveComparison(const Comparison& comparison);
  // Makes a column's answer an answer of the chat and the end of the branch. One that is in the chat already is shown again, with what
  // follows it.
  TurnIds useAnswer(qint64 comparison, int place);
  // How far a finished answer with a run is the full cache's.
  void saveAgreement(MessageId answer, const Agreement& agreement);
  // A further answer to an existing question (regenerate).
  TurnIds beginAnswer(MessageId question);
  // Stores what was really sampled of the question's attachment at `place` (0: the first). Replaces what was known.
  void storeSampled(MessageId question, int place, const SampledTimes& times);
  // Stores what is asked of it from now on: its pins, and which part of its plan's frames (FramePlan::taken, FramePlan::set_frames).
  void storeAsked(MessageId question, int place, const Attachment& asked);
  // A file of a chat is somewhere else: wherever it is attached there, also as another one's subtitles.
  void moveMedia(ConversationId id, const QByteArray& from, const QByteArray& to);
  // The lines of a file, by its content (Attachment::sha256), in place of those of this kind.
  void storeLines(const QByteArray& sha256, LineKind kind, const QList<FileLine>& lines);
  QList<FileLine> linesOf(const QByteArray& sha256);  // by their times
  // The lines of this video stay, and are found, without a chat that has it, as long as it is there.
  void storeOnShelf(const QByteArray& sha256, const QByteArray& path);
  void updateStreaming(MessageId answer, const AnswerSoFar& soFar);  // no-op unless the answer is still `streaming`
  void finishTurn(const FinishedTurn& turn);
  SharedKeptMap keptMap(const std::variant<MessageId, AnswerOfComparison>& answer);  // null: none was saved

  // The chat, if it is called otherwise from now on.
  std::optional<Conversation> saveDraft(ConversationId id, const Draft& draft);
  void saveViewState(ConversationId id, const ViewState& view);

  QHash<QString, QString> settings();
  void setSetting(const QString& key, const QString& value);

  // Rows turned from `streaming` to `abandoned` by this start. Those that added nothing to an earlier answer are gone.
  int recoveredAnswers() const;

  static QString databaseFile(const ChatFolders& folders);

 private:
  class Impl;
  explicit ChatDatabase(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
};

}  // namespace winnow::app
