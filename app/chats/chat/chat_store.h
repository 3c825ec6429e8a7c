// Saved chats for the window: asynchronous calls, answers as signals.
//
// Lives on the UI thread and owns the writer thread, on which alone the database is used; no call here waits for the disk. Every call
// returns a RequestToken; exactly one signal with that token answers it, in the order of the calls (those made before
// open() finishes wait).
// A send is acknowledged by turnCommitted: only then may the window show it as sent and start the engine.
// Streaming text is coalesced to one write per 250 ms. close() and the destructor write what is pending and join the writer.
// Errors: `failed` with the call's token. Where opening fails, openFailed says why and leaves the store closed and the file untouched:
// until one of the four ways to open it is gone, every call fails with that same error. While the file is open a copy of it is made once a
// day (BackupKeeper); a backup that finds the database damaged says so as failed(0, ...). Threads: UI thread only.
#pragma once

#include <QObject>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "app/chats/chat/backups.h"
#include "app/chats/chat/chat_database.h"
#include "app/chats/chat/conversation.h"
#include "app/ground/process/own_folder.h"

namespace winnow::app {

class Mailbox;
class WorkerThread;

struct StoreOpened {
  QHash<QString, QString> settings;
  QList<Conversation> conversations;
  int recoveredAnswers = 0;  // answers cut off by the last end of the program, now `abandoned`
  bool saves = true;         // false: in memory, nothing outlives the program
  QString setAside;          // where the database is now that was there before; empty: it is the one that was opened
  QList<Attachment> left{};  // files of chats that were deleted a month ago, if no other chat has them: path, hash and size
};

struct StorageFailure {
  Error error;
  QList<Backup> backups;  // that could take its place, newest first
  FolderState folder{};   // of the chats: why it cannot be made or written to
};

class ChatStore : public QObject {
  Q_OBJECT

 public:
  explicit ChatStore(const ChatFolders& folders, const BackupTimes& backups = {}, QObject* parent = nullptr);
  ~ChatStore() override;

  // `opened` or `openFailed`. The latter two on explicit wish only; none of them deletes anything.
  RequestToken open();
  // Renames the database that is there. A copy of the backup takes its place; empty: a new one.
  RequestToken setAsideAndOpen(const QString& backupFile = {});
  RequestToken openInMemory();  // with what can be read of the database; nothing is saved
  void close();                 // flushes, closes, joins; further calls fail with kStorage
  bool isOpen() const { return m_open; }
  // Why it is not open; nothing while it is, is being opened or was closed.
  const std::optional<Error>& openError() const { return m_openError; }
  const ChatFolders& folders() const { return m_folders; }

  RequestToken createConversation(const QString& title, const ConversationOptions& options, const Draft& draft = {});
  // path: a file that another program has exported its chats to; they are read on the writer thread.
  RequestToken importChats(const QString& path, const ConversationOptions& options);
  RequestToken renameConversation(ConversationId id, const QString& title);
  RequestToken setPinned(ConversationId id, bool pinned);
  RequestToken setOptions(ConversationId id, const ConversationOptions& options);
  // withdrawn: an answer of which nothing was written, and which goes; 0: none.
  RequestToken setActiveLeaf(ConversationId id, MessageId leaf, MessageId withdrawn = 0);
  RequestToken deleteConversation(ConversationId id);
  RequestToken restoreConversation(ConversationId id);
  RequestToken listConversations();
  RequestToken listDeleted();
  RequestToken loadConversation(ConversationId id);
  RequestToken search(const QString& query, int limit = 50);

  RequestToken beginTurn(const NewQuestion& question);
  RequestToken beginAnswer(MessageId question);
  RequestToken beginQuestion(const NewQuestion& question);  // without an answer: for a comparison
  RequestToken saveComparison(const Comparison& comparison);
  RequestToken useAnswer(qint64 comparison, int place);
  RequestToken saveAgreement(MessageId answer, const Agreement& agreement);
  RequestToken storeSampled(MessageId question, int place, const SampledTimes& times);
  RequestToken storeAsked(MessageId question, int place, const Attachment& asked);
  RequestToken moveMedia(ConversationId id, const QByteArray& from, const QByteArray& to);
  void appendStreaming(MessageId answer, const AnswerSoFar& soFar);  // failures come as failed(0, ...)
  RequestToken finishTurn(const FinishedTurn& turn);                 // replaces pending streaming text of that answer

  RequestToken loadKeptMap(MessageId answer);
  RequestToken loadComparedKeptMap(qint64 comparison, int place);

  RequestToken saveDraft(ConversationId id, const Draft& draft);
  RequestToken saveViewState(ConversationId id, const ViewState& view);
  RequestToken setSetting(const QString& key, const QString& value);

 Q_SIGNALS:
  void opening();  // not open from now on, until `opened`
  void opened(winnow::app::RequestToken token, const winnow::app::StoreOpened& report);
  void openFailed(winnow::app::RequestToken token, const winnow::app::StorageFailure& failure);
  void damaged(const winnow::app::StorageFailure& failure);  // while it is open; it stays so
  void conversationCreated(winnow::app::RequestToken token, const winnow::app::Conversation& conversation);
  void chatsImported(winnow::app::RequestToken token, const winnow::app::ImportedChats& imported);
  // Rename, pin, options, active leaf.
  void conversationChanged(winnow::app::RequestToken token, const winnow::app::Conversation& conversation);
  void called(const winnow::app::Conversation& conversation);  // otherwise than before, by a draft that was saved
  void conversationDeleted(winnow::app::RequestToken token, winnow::ConversationId id);
  void conversationRestored(winnow::app::RequestToken token, const winnow::app::Conversation& conversation);
  void conversationsListed(winnow::app::RequestToken token, const QList<winnow::app::Conversation>& conversations);
  void deletedListed(winnow::app::RequestToken token, const QList<winnow::app::Conversation>& conversations);
  void conversationLoaded(winnow::app::RequestToken token, const winnow::app::LoadedConversation& loaded);
  void searchFinished(winnow::app::RequestToken token, const QList<winnow::app::SearchHit>& hits);
  void turnCommitted(winnow::app::RequestToken token, const winnow::app::TurnIds& ids);
  void comparisonSaved(winnow::app::RequestToken token, const winnow::app::Comparison& comparison);
  void answerUsed(winnow::app::RequestToken token, const winnow::app::TurnIds& ids);
  void streamFlushed(winnow::app::MessageId answer, qint64 length);  // characters that are on the disk
  void turnFinished(winnow::app::RequestToken token, winnow::app::MessageId answer);
  void keptMapLoaded(winnow::app::RequestToken token, winnow::app::MessageId answer, const winnow::app::SharedKeptMap& map);  // null: none
  void comparedKeptMapLoaded(winnow::app::RequestToken token, qint64 comparison, int place, const winnow::app::SharedKeptMap& map);
  void saved(winnow::app::RequestToken token);  // draft, view state, setting, sampled times, agreement
  void failed(winnow::app::RequestToken token, const winnow::Error& error);

 private:
  friend class LineStore;                                           // its calls are made on the same thread, in the same order
  using Letter = std::function<void()>;                             // runs on the UI thread
  using Work = std::function<Letter(ChatDatabase&, RequestToken)>;  // runs on the writer thread
  // Runs on the writer thread: opens the database, and says where the one is that was there before.
  using Open = std::function<std::unique_ptr<ChatDatabase>(QString& setAside)>;
  RequestToken start(Open open, bool saves);
  void keepBackups();
  void tellDamage(const Error& error);  // any thread
  RequestToken submit(Work work);
  void submitAs(RequestToken token, Work work);
  void failLater(RequestToken token, const Error& error);
  RequestToken changeConversation(std::function<Conversation(ChatDatabase&)> change);
  void flushStreaming();

  ChatFolders m_folders;
  BackupTimes m_backupTimes;
  RequestToken m_lastToken = 0;
  bool m_open = false;
  std::optional<Error> m_openError;
  QTimer m_flushTimer;
  std::map<MessageId, AnswerSoFar> m_pendingStreams;
  std::unique_ptr<BackupKeeper> m_backups;
  std::unique_ptr<Mailbox> m_mailbox;

  // Writer thread only.
  std::unique_ptr<ChatDatabase> m_database;
  Error m_whyClosed;

  std::unique_ptr<WorkerThread> m_writer;  // last: joined before everything that its answers touch goes away
};

}  // namespace winnow::app

Q_DECLARE_METATYPE(winnow::app::StoreOpened)
Q_DECLARE_METATYPE(winnow::app::StorageFailure)
