#include "app/chats/chat/chat_store.h"

#include <QDateTime>
#include <QFile>
#include <utility>

#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "engine/base/file_bytes.h"

namespace winnow::app {

namespace {

constexpr int kFlushIntervalMs = 250;
constexpr qint64 kTrashMs = qint64{30} * 24 * 60 * 60 * 1000;

const Error kClosed{ErrorCode::kStorage, "conversations", "they are not open"};

}  // namespace

ChatStore::ChatStore(const ChatFolders& folders, const BackupTimes& backups, QObject* parent)
    : QObject(parent), m_folders(folders), m_backupTimes(backups), m_mailbox(std::make_unique<Mailbox>()), m_whyClosed(kClosed) {
  m_flushTimer.setSingleShot(true);
  m_flushTimer.setInterval(kFlushIntervalMs);
  connect(&m_flushTimer, &QTimer::timeout, this, &ChatStore::flushStreaming);
}

ChatStore::~ChatStore() { close(); }

RequestToken ChatStore::open() {
  return start([folders = m_folders](QString&) { return std::make_unique<ChatDatabase>(folders); }, true);
}

RequestToken ChatStore::setAsideAndOpen(const QString& backupFile) {
  return start(
      [folders = m_folders, backupFile](QString& setAside) {
        setAside = backupFile.isEmpty() ? ChatDatabase::setAside(folders) : restoreBackup(folders, backupFile);
        return std::make_unique<ChatDatabase>(folders);
      },
      true);
}

RequestToken ChatStore::openInMemory() {
  return start([folders = m_folders](QString&) { return ChatDatabase::inMemory(folders); }, false);
}

RequestToken ChatStore::start(Open open, bool saves) {
  const RequestToken token = ++m_lastToken;
  if (!m_writer) m_writer = std::make_unique<WorkerThread>("writer");
  m_backups.reset();
  m_open = false;
  m_openError.reset();
  m_writer->post([this, token, open = std::move(open), saves] {
    try {
      m_database.reset();
      QString setAside;
      m_database = open(setAside);
      const PurgedChats purged = m_database->purgeDeletedBefore(QDateTime::currentMSecsSinceEpoch() - kTrashMs);
      StoreOpened report{
          m_database->settings(), m_database->listConversations(), m_database->recoveredAnswers(), saves, setAside, purged.files};
      m_mailbox->post([this, token, report = std::move(report)] {
        m_open = m_writer != nullptr;
        if (m_open && report.saves) keepBackups();
        Q_EMIT opened(token, report);
      });
    } catch (...) {
      m_database.reset();
      m_whyClosed = current_error("conversations");
      m_mailbox->post([this, token, failure = StorageFailure{m_whyClosed, listBackups(m_folders), makeOwnFolder(m_folders.data)}] {
        m_openError = failure.error;
        Q_EMIT openFailed(token, failure);
      });
    }
  });
  Q_EMIT opening();
  return token;
}

void ChatStore::keepBackups() {
  m_backups = std::make_unique<BackupKeeper>(m_folders, m_backupTimes);
  connect(m_backups.get(), &BackupKeeper::failed, this, [this](const Error& error) {
    if (error.code == ErrorCode::kStorageDamaged) tellDamage(error);
  });
}

void ChatStore::close() {
  if (!m_writer) return;
  m_backups.reset();
  flushStreaming();
  m_writer->post([this] { m_database.reset(); });
  m_writer.reset();
  m_whyClosed = kClosed;
  m_open = false;
  m_openError.reset();
}

void ChatStore::failLater(RequestToken token, const Error& error) {
  m_mailbox->post([this, token, error] { Q_EMIT failed(token, error); });
}

RequestToken ChatStore::submit(Work work) {
  const RequestToken token = ++m_lastToken;
  submitAs(token, std::move(work));
  return token;
}

void ChatStore::submitAs(RequestToken token, Work work) {
  if (!m_writer) {
    failLater(token, kClosed);
    return;
  }
  m_writer->post([this, token, work = std::move(work)] {
    try {
      if (!m_database) throw Exception(m_whyClosed);
      m_mailbox->post(work(*m_database, token));
    } catch (...) {
      const Error error = current_error("conversations");
      failLater(token, error);
      if (m_database && error.code == ErrorCode::kStorageDamaged) tellDamage(error);
    }
  });
}

void ChatStore::tellDamage(const Error& error) {
  m_writer->post([this, error] {
    m_mailbox->post([this, failure = StorageFailure{error, listBackups(m_folders)}] { Q_EMIT damaged(failure); });
  });
}

RequestToken ChatStore::createConversation(const QString& title, const ConversationOptions& options, const Draft& draft) {
  return submit([this, title, options, draft](ChatDatabase& db, RequestToken token) -> Letter {
    Conversation made = db.createConversation(title, options);
    if (!draft.isEmpty()) made = db.saveDraft(made.id, draft).value_or(made);
    return [this, token, made] { Q_EMIT conversationCreated(token, made); };
  });
}

RequestToken ChatStore::changeConversation(std::function<Conversation(ChatDatabase&)> change) {
  return submit([this, change = std::move(change)](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, changed = change(db)] { Q_EMIT conversationChanged(token, changed); };
  });
}

RequestToken ChatStore::importChats(const QString& path, const ConversationOptions& options) {
  return submit([this, path, options](ChatDatabase& db, RequestToken token) -> Letter {
    const std::string file = QFile::encodeName(path).toStdString();
    const ImportedChats imported = db.importChats(readExportedChats(read_file_bytes(file, kMostExportedBytes), file), options);
    return [this, token, imported] { Q_EMIT chatsImported(token, imported); };
  });
}

RequestToken ChatStore::renameConversation(ConversationId id, const QString& title) {
  return changeConversation([id, title](ChatDatabase& db) { return db.renameConversation(id, title); });
}

RequestToken ChatStore::setPinned(ConversationId id, bool pinned) {
  return changeConversation([id, pinned](ChatDatabase& db) { return db.setPinned(id, pinned); });
}

RequestToken ChatStore::setOptions(ConversationId id, const ConversationOptions& options) {
  return changeConversation([id, options](ChatDatabase& db) { return db.setOptions(id, options); });
}

RequestToken ChatStore::setActiveLeaf(ConversationId id, MessageId leaf, MessageId withdrawn) {
  m_pendingStreams.erase(withdrawn);
  return changeConversation([id, leaf, withdrawn](ChatDatabase& db) { return db.setActiveLeaf(id, leaf, withdrawn); });
}

RequestToken ChatStore::deleteConversation(ConversationId id) {
  return submit([this, id](ChatDatabase& db, RequestToken token) -> Letter {
    db.deleteConversation(id);
    return [this, token, id] { Q_EMIT conversationDeleted(token, id); };
  });
}

RequestToken ChatStore::restoreConversation(ConversationId id) {
  return submit([this, id](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, restored = db.restoreConversation(id)] { Q_EMIT conversationRestored(token, restored); };
  });
}

RequestToken ChatStore::listConversations() {
  return submit([this](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, list = db.listConversations()] { Q_EMIT conversationsListed(token, list); };
  });
}

RequestToken ChatStore::listDeleted() {
  return submit([this](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, list = db.listConversations(ChatDatabase::Listed::kDeleted)] { Q_EMIT deletedListed(token, list); };
  });
}

RequestToken ChatStore::loadConversation(ConversationId id) {
  return submit([this, id](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, loaded = db.loadConversation(id)] { Q_EMIT conversationLoaded(token, loaded); };
  });
}

RequestToken ChatStore::search(const QString& query, int limit) {
  return submit([this, query, limit](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, hits = db.search(query, limit)] { Q_EMIT searchFinished(token, hits); };
  });
}

RequestToken ChatStore::beginTurn(const NewQuestion& question) {
  return submit([this, question](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, ids = db.beginTurn(question)] { Q_EMIT turnCommitted(token, ids); };
  });
}

RequestToken ChatStore::beginAnswer(MessageId question) {
  return submit([this, question](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, ids = db.beginAnswer(question)] { Q_EMIT turnCommitted(token, ids); };
  });
}

RequestToken ChatStore::beginQuestion(const NewQuestion& question) {
  return submit([this, question](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, ids = db.beginQuestion(question)] { Q_EMIT turnCommitted(token, ids); };
  });
}

RequestToken ChatStore::saveComparison(const Comparison& comparison) {
  return submit([this, comparison](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, saved = db.saveComparison(comparison)] { Q_EMIT comparisonSaved(token, saved); };
  });
}

RequestToken ChatStore::useAnswer(qint64 comparison, int place) {
  return submit([this, comparison, place](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, ids = db.useAnswer(comparison, place)] { Q_EMIT answerUsed(token, ids); };
  });
}

RequestToken ChatStore::saveAgreement(MessageId answer, const Agreement& agreement) {
  return submit([this, answer, agreement](ChatDatabase& db, RequestToken token) -> Letter {
    db.saveAgreement(answer, agreement);
    return [this, token] { Q_EMIT saved(token); };
  });
}

RequestToken ChatStore::storeSampled(MessageId question, int place, const SampledTimes& times) {
  return submit([this, question, place, times](ChatDatabase& db, RequestToken token) -> Letter {
    db.storeSampled(question, place, times);
    return [this, token] { Q_EMIT saved(token); };
  });
}

RequestToken ChatStore::storeAsked(MessageId question, int place, const Attachment& asked) {
  return submit([this, question, place, asked](ChatDatabase& db, RequestToken token) -> Letter {
    db.storeAsked(question, place, asked);
    return [this, token] { Q_EMIT saved(token); };
  });
}

RequestToken ChatStore::moveMedia(ConversationId id, const QByteArray& from, const QByteArray& to) {
  return submit([this, id, from, to](ChatDatabase& db, RequestToken token) -> Letter {
    db.moveMedia(id, from, to);
    return [this, token] { Q_EMIT saved(token); };
  });
}

void ChatStore::appendStreaming(MessageId answer, const AnswerSoFar& soFar) {
  AnswerSoFar& pending = m_pendingStreams.try_emplace(answer, soFar).first->second;
  pending.text = soFar.text;
  pending.thought = soFar.thought;
  if (soFar.cause) pending.cause = soFar.cause;
  if (!m_flushTimer.isActive()) m_flushTimer.start();
}

void ChatStore::flushStreaming() {
  m_flushTimer.stop();
  for (const auto& [answer, soFar] : std::exchange(m_pendingStreams, {})) {
    submitAs(0, [this, answer = answer, soFar = soFar](ChatDatabase& db, RequestToken) -> Letter {
      db.updateStreaming(answer, soFar);
      return
          [this, answer, length = static_cast<qint64>(soFar.text.size() + soFar.thought.size())] { Q_EMIT streamFlushed(answer, length); };
    });
  }
}

RequestToken ChatStore::finishTurn(const FinishedTurn& turn) {
  m_pendingStreams.erase(turn.answer);
  return submit([this, turn](ChatDatabase& db, RequestToken token) -> Letter {
    db.finishTurn(turn);
    return [this, token, answer = turn.answer] { Q_EMIT turnFinished(token, answer); };
  });
}

RequestToken ChatStore::loadKeptMap(MessageId answer) {
  return submit([this, answer](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, answer, map = db.keptMap(answer)] { Q_EMIT keptMapLoaded(token, answer, map); };
  });
}

RequestToken ChatStore::loadComparedKeptMap(qint64 comparison, int place) {
  return submit([this, comparison, place](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, comparison, place, map = db.keptMap(AnswerOfComparison{comparison, place})] {
      Q_EMIT comparedKeptMapLoaded(token, comparison, place, map);
    };
  });
}

RequestToken ChatStore::saveDraft(ConversationId id, const Draft& draft) {
  return submit([this, id, draft](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, called = db.saveDraft(id, draft)] {
      if (called) Q_EMIT this->called(*called);
      Q_EMIT saved(token);
    };
  });
}

RequestToken ChatStore::saveViewState(ConversationId id, const ViewState& view) {
  return submit([this, id, view](ChatDatabase& db, RequestToken token) -> Letter {
    db.saveViewState(id, view);
    return [this, token] { Q_EMIT saved(token); };
  });
}

RequestToken ChatStore::setSetting(const QString& key, const QString& value) {
  return submit([this, key, value](ChatDatabase& db, RequestToken token) -> Letter {
    db.setSetting(key, value);
    return [this, token] { Q_EMIT saved(token); };
  });
}

}  // namespace winnow::app
