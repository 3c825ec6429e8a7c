#include "app/chat/chat_store.h"

#include <QDateTime>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "app/chat/mailbox.h"

namespace winnow::app {

namespace {

constexpr int kFlushIntervalMs = 250;
constexpr qint64 kTrashMs = qint64{30} * 24 * 60 * 60 * 1000;

const Error kClosed{ErrorCode::kStorage, "conversations", "they are not open"};

}  // namespace

// The writer thread: jobs in order, each with the database that lives there.
class ChatStore::Writer {
 public:
  using Job = std::function<void(std::unique_ptr<ChatDatabase>&)>;

  Writer() : m_thread([this] { run(); }) {}

  // Does all that was posted, then ends.
  ~Writer() {
    {
      const std::lock_guard lock(m_mutex);
      m_quit = true;
    }
    m_posted.notify_one();
    m_thread.join();
  }

  void post(Job job) {
    {
      const std::lock_guard lock(m_mutex);
      m_jobs.push_back(std::move(job));
    }
    m_posted.notify_one();
  }

 private:
  void run() {
    std::unique_ptr<ChatDatabase> database;
    while (true) {
      Job job;
      {
        std::unique_lock lock(m_mutex);
        m_posted.wait(lock, [this] { return m_quit || !m_jobs.empty(); });
        if (m_jobs.empty()) return;
        job = std::move(m_jobs.front());
        m_jobs.pop_front();
      }
      job(database);
    }
  }

  std::mutex m_mutex;  // guards the members below
  std::condition_variable m_posted;
  std::deque<Job> m_jobs;
  bool m_quit = false;
  std::thread m_thread;  // last: everything above exists when it starts
};

ChatStore::ChatStore(const ChatFolders& folders, QObject* parent)
    : QObject(parent), m_folders(folders), m_mailbox(std::make_unique<Mailbox>()) {
  m_flushTimer.setSingleShot(true);
  m_flushTimer.setInterval(kFlushIntervalMs);
  connect(&m_flushTimer, &QTimer::timeout, this, &ChatStore::flushStreaming);
}

ChatStore::~ChatStore() { close(); }

RequestToken ChatStore::open() { return start(Existing::kKeep); }
RequestToken ChatStore::setAsideAndOpen() { return start(Existing::kSetAside); }

RequestToken ChatStore::start(Existing existing) {
  const RequestToken token = ++m_lastToken;
  if (!m_writer) m_writer = std::make_unique<Writer>();
  m_writer->post([this, token, existing, folders = m_folders](std::unique_ptr<ChatDatabase>& database) {
    try {
      database.reset();
      if (existing == Existing::kSetAside) ChatDatabase::setAside(folders);
      database = std::make_unique<ChatDatabase>(folders);
      database->purgeDeletedBefore(QDateTime::currentMSecsSinceEpoch() - kTrashMs);
      StoreOpened report{database->settings(), database->listConversations(), database->recoveredAnswers()};
      m_mailbox->post([this, token, report = std::move(report)] {
        m_open = m_writer != nullptr;
        Q_EMIT opened(token, report);
      });
    } catch (...) {
      database.reset();
      m_mailbox->post([this, token, error = current_error("conversations")] {
        m_open = false;
        Q_EMIT failed(token, error);
      });
    }
  });
  return token;
}

void ChatStore::close() {
  if (!m_writer) return;
  flushStreaming();
  m_writer.reset();
  m_open = false;
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
  m_writer->post([this, token, work = std::move(work)](std::unique_ptr<ChatDatabase>& database) {
    try {
      if (!database) throw Exception(kClosed);
      m_mailbox->post(work(*database, token));
    } catch (...) {
      failLater(token, current_error("conversations"));
    }
  });
}

RequestToken ChatStore::createConversation(const QString& title, const ConversationOptions& options) {
  return submit([this, title, options](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, made = db.createConversation(title, options)] { Q_EMIT conversationCreated(token, made); };
  });
}

RequestToken ChatStore::changeConversation(std::function<Conversation(ChatDatabase&)> change) {
  return submit([this, change = std::move(change)](ChatDatabase& db, RequestToken token) -> Letter {
    return [this, token, changed = change(db)] { Q_EMIT conversationChanged(token, changed); };
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

RequestToken ChatStore::setActiveLeaf(ConversationId id, MessageId leaf) {
  return changeConversation([id, leaf](ChatDatabase& db) { return db.setActiveLeaf(id, leaf); });
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
    return [this, token, list = db.listDeleted()] { Q_EMIT deletedListed(token, list); };
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

RequestToken ChatStore::storePins(MessageId question, int place, const PinnedRanges& pins) {
  return submit([this, question, place, pins](ChatDatabase& db, RequestToken token) -> Letter {
    db.storePins(question, place, pins);
    return [this, token] { Q_EMIT saved(token); };
  });
}

void ChatStore::appendStreaming(MessageId answer, const QString& textSoFar) {
  m_pendingStreams.insert(answer, textSoFar);
  if (!m_flushTimer.isActive()) m_flushTimer.start();
}

void ChatStore::flushStreaming() {
  m_flushTimer.stop();
  const QHash<MessageId, QString> pending = std::exchange(m_pendingStreams, {});
  for (auto it = pending.cbegin(); it != pending.cend(); ++it) {
    submitAs(0, [this, answer = it.key(), text = it.value()](ChatDatabase& db, RequestToken) -> Letter {
      db.updateStreaming(answer, text);
      return [this, answer, length = static_cast<qint64>(text.size())] { Q_EMIT streamFlushed(answer, length); };
    });
  }
}

RequestToken ChatStore::finishTurn(const FinishedTurn& turn) {
  m_pendingStreams.remove(turn.answer);
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
    return [this, token, comparison, place, map = db.comparedKeptMap(comparison, place)] {
      Q_EMIT comparedKeptMapLoaded(token, comparison, place, map);
    };
  });
}

RequestToken ChatStore::saveDraft(ConversationId id, const Draft& draft) {
  return submit([this, id, draft](ChatDatabase& db, RequestToken token) -> Letter {
    db.saveDraft(id, draft);
    return [this, token] { Q_EMIT saved(token); };
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
