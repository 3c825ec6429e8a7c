#include "app/chats/chat/chat_database.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "app/chats/chat/chat_rows.h"
#include "app/chats/chat/chat_search.h"
#include "app/chats/chat/comparison_rows.h"
#include "app/chats/chat/database_file.h"
#include "app/chats/chat/file_line_rows.h"
#include "app/chats/chat/message_rows.h"
#include "app/chats/chat/run_json.h"
#include "app/chats/chat/storage_fault.h"
#include "app/chats/chat/thumbnail_store.h"
#include "app/ground/process/instance_lock.h"

namespace winnow::app {

namespace {

constexpr qint64 kMaxSettingBytes = qint64{1} << 20;

[[noreturn]] void unknown(const char* what) { throw Exception(ErrorCode::kInvalidArgument, what, "there is none with this id"); }

QString databasePath(const ChatFolders& folders) { return folders.data + QStringLiteral("/winnow.db"); }

QString lockPath(const ChatFolders& folders) { return folders.data + QStringLiteral("/winnow.lock"); }

}  // namespace

class ChatDatabase::Impl {
 public:
  Impl(const ChatFolders& folders, const QByteArray& vfs)
      : m_file(databasePath(folders)), m_vfs(vfs), m_lock(lockPath(folders)), m_thumbnails(folders.cache) {
    if (const FolderState made = makeOwnFolder(folders.data); !made)
      throw Exception(storageCodeOf(made.fault), QFile::encodeName(made.path).toStdString(), reasonOf(made.fault));
    lock(m_lock, folders);
    m_db = openDatabaseFile(m_file, m_vfs);
    m_recovered = endStreams();
  }

  // In memory: no lock, no thumbnails are written.
  explicit Impl(const ChatFolders& folders)
      : m_file(databasePath(folders)), m_lock(lockPath(folders)), m_thumbnails(folders.cache, ThumbnailStore::Access::kRead) {
    m_saves = false;
    m_db = openInMemory(m_file);
    m_recovered = endStreams();
  }

  static void lock(InstanceLock& lock, const ChatFolders& folders) {
    if (lock.tryAcquire()) return;
    const std::string folder = QFile::encodeName(folders.data).toStdString();
    if (lock.heldElsewhere())
      throw Exception(ErrorCode::kStorageInUse, folder, "another Winnow is using it (process " + std::to_string(lock.holderPid()) + ")");
    throw Exception(whyNotWritten(lockPath(folders)), folder, "it cannot be written to");
  }

  // Every access goes through here: after a storage error the connection is not trusted any more.
  template <typename Work>
  auto access(Work&& work) {
    if (m_suspect) {
      m_db.reset();
      m_db = reopenDatabaseFile(m_file, m_vfs);
      m_suspect = false;
    }
    try {
      return work(*m_db);
    } catch (const Exception& exception) {
      m_suspect = m_saves && is_storage(exception.error().code);
      throw;
    }
  }

  // rest: of the statement, after WHERE.
  QList<Conversation> list(const char* rest) {
    return access([&](SqliteConnection& db) {
      QList<Conversation> found;
      const std::string sql = std::string("SELECT ") + kConversationColumns + " FROM conversation WHERE " + rest;
      SqliteStatement row = db.prepare(sql.c_str());
      while (row.step()) found.push_back(readConversation(row));
      return found;
    });
  }

  template <typename Work>
  auto write(Work&& work) {
    return access([&](SqliteConnection& db) {
      SqliteTransaction transaction(db);
      if constexpr (std::is_void_v<decltype(work(db))>) {
        work(db);
        transaction.commit();
      } else {
        auto result = work(db);
        transaction.commit();
        return result;
      }
    });
  }

  Conversation require(SqliteConnection& db, ConversationId id) {
    std::optional<Conversation> found = findConversation(db, id);
    if (!found) unknown("conversation");
    return *std::move(found);
  }

  qint64 attachmentAt(SqliteConnection& db, MessageId question, int place) {
    SqliteStatement row = db.prepare("SELECT id FROM attachment WHERE message_id = ? AND ordinal = ?");
    if (!row.bind(question).bind(place).step()) unknown("attachment");
    return row.integer(0);
  }

  int recovered() const { return m_recovered; }
  const ThumbnailStore& thumbnails() const { return m_thumbnails; }

 private:
  int endStreams() {
    return write([](SqliteConnection& db) {
      removeBegunForNothing(db);
      db.prepare("INSERT INTO message_fts(rowid, text) SELECT id, text FROM message WHERE state = 2").run();
      db.prepare("UPDATE message SET state = 5 WHERE state = 2").run();
      return db.changes();
    });
  }

  const QString m_file;
  const QByteArray m_vfs;
  InstanceLock m_lock;  // outlives the connection
  const ThumbnailStore m_thumbnails;
  std::unique_ptr<SqliteConnection> m_db;
  bool m_saves = true;
  bool m_suspect = false;
  int m_recovered = 0;
};

ChatDatabase::ChatDatabase(const ChatFolders& folders, const QByteArray& vfs) : m_impl(std::make_unique<Impl>(folders, vfs)) {}
ChatDatabase::ChatDatabase(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
ChatDatabase::~ChatDatabase() = default;

std::unique_ptr<ChatDatabase> ChatDatabase::inMemory(const ChatFolders& folders) {
  return std::unique_ptr<ChatDatabase>(new ChatDatabase(std::make_unique<Impl>(folders)));
}

QString ChatDatabase::databaseFile(const ChatFolders& folders) { return databasePath(folders); }
int ChatDatabase::recoveredAnswers() const { return m_impl->recovered(); }

QString ChatDatabase::setAside(const ChatFolders& folders) {
  InstanceLock lock(lockPath(folders));
  Impl::lock(lock, folders);
  const QString file = databasePath(folders);
  QString aside;
  for (int number = 1; aside.isEmpty() || QFileInfo::exists(aside); ++number) aside = file + QStringLiteral(".aside-%1").arg(number);
  // The log goes first: a database without its log would look whole and lack the last messages.
  for (const char* suffix : {"-wal", "-shm", "-journal", ""}) {
    const QString from = file + QLatin1String(suffix);
    const QFileInfo info(from);
    if ((info.exists() || info.isSymLink()) && !QDir().rename(from, aside + QLatin1String(suffix)))
      throw Exception(whyNotWritten(from), QFile::encodeName(from).toStdString(), "it cannot be renamed");
  }
  return aside;
}

Conversation ChatDatabase::createConversation(const QString& title, const ConversationOptions& options) {
  checkText(options.systemPrompt, "system prompt");
  return m_impl->write([&](SqliteConnection& db) {
    Conversation made;
    made.title = title;
    made.createdMs = made.updatedMs = nowMs();
    made.activity = nextTick(db);
    made.options = options;
    return m_impl->require(db, insertConversation(db, made));
  });
}

ImportedChats ChatDatabase::importChats(const QList<ExportedChat>& exported, const ConversationOptions& options) {
  return m_impl->write([&](SqliteConnection& db) {
    ImportedChats imported;
    for (const ExportedChat& chat : exported) {
      const bool tooLong = std::ranges::any_of(chat.messages, [](const ExportedMessage& message) {
        return message.text.size() > kMaxMessageBytes / 3 || message.thought.size() > kMaxMessageBytes / 3;
      });
      const bool there = db.prepare("SELECT 1 FROM conversation WHERE title = ? AND created_ms = ?")
                             .bind(chat.title.left(kMaxTitleLength))
                             .bind(chat.createdMs)
                             .step();
      ++(tooLong ? imported.tooLong : there ? imported.there : imported.chats);
      if (!tooLong && !there) insertExported(db, chat, options);
    }
    return imported;
  });
}

Conversation ChatDatabase::renameConversation(ConversationId id, const QString& title) {
  return m_impl->write([&](SqliteConnection& db) {
    db.prepare("UPDATE conversation SET title = ?, updated_ms = ? WHERE id = ?")
        .bind(title.left(kMaxTitleLength))
        .bind(nowMs())
        .bind(id)
        .run();
    return m_impl->require(db, id);
  });
}

Conversation ChatDatabase::setPinned(ConversationId id, bool pinned) {
  return m_impl->write([&](SqliteConnection& db) {
    db.prepare("UPDATE conversation SET pinned = ? WHERE id = ?").bind(pinned ? 1 : 0).bind(id).run();
    return m_impl->require(db, id);
  });
}

Conversation ChatDatabase::setOptions(ConversationId id, const ConversationOptions& options) {
  checkText(options.systemPrompt, "system prompt");
  return m_impl->write([&](SqliteConnection& db) {
    SqliteStatement update = db.prepare(
        "UPDATE conversation SET method = ?, retention = ?, frame_count = ?, system_prompt = ?, recipe_json = ?, later_questions = ?, "
        "sampling_json = ? WHERE id = ?");
    bindOptions(update, options).bind(id).run();
    return m_impl->require(db, id);
  });
}

Conversation ChatDatabase::setActiveLeaf(ConversationId id, MessageId leaf, MessageId withdrawn) {
  return m_impl->write([&](SqliteConnection& db) {
    const auto require = [&](const char* sql, MessageId message, const char* what) {
      SqliteStatement found = db.prepare(sql);
      if (!found.bind(message).bind(id).step()) unknown(what);
    };
    require("SELECT 1 FROM message WHERE id = ? AND conversation_id = ?", leaf, "message");
    if (withdrawn != 0) {
      require("SELECT 1 FROM message WHERE id = ? AND conversation_id = ? AND state = 2", withdrawn, "unfinished answer");
      removeBegun(db, withdrawn, leaf);
    }
    db.prepare("UPDATE conversation SET active_leaf = ? WHERE id = ?").bind(leaf).bind(id).run();
    return m_impl->require(db, id);
  });
}

void ChatDatabase::deleteConversation(ConversationId id) {
  m_impl->write([&](SqliteConnection& db) {
    m_impl->require(db, id);
    db.prepare("UPDATE conversation SET deleted_ms = ? WHERE id = ? AND deleted_ms = 0").bind(qMax<qint64>(1, nowMs())).bind(id).run();
  });
}

Conversation ChatDatabase::restoreConversation(ConversationId id) {
  return m_impl->write([&](SqliteConnection& db) {
    db.prepare("UPDATE conversation SET deleted_ms = 0 WHERE id = ?").bind(id).run();
    return m_impl->require(db, id);
  });
}

PurgedChats ChatDatabase::purgeDeletedBefore(qint64 deletedBeforeMs) {
  PurgedChats purged = m_impl->write([&](SqliteConnection& db) {
    PurgedChats gone{.files = readFilesOf(db, deletedBeforeMs)};
    // The index holds no text of its own: it has to be told the words that go.
    for (const char* sql :
         {"INSERT INTO message_fts(message_fts, rowid, text) SELECT 'delete', m.id, m.text FROM message m "
          "JOIN conversation c ON c.id = m.conversation_id WHERE m.state <> 2 AND c.deleted_ms > 0 AND c.deleted_ms < ?",
          "DELETE FROM file_name_fts WHERE rowid IN (SELECT a.id FROM attachment a JOIN conversation c ON c.id = a.conversation_id "
          "WHERE c.deleted_ms > 0 AND c.deleted_ms < ?)",
          "DELETE FROM conversation WHERE deleted_ms > 0 AND deleted_ms < ?"}) {
      db.prepare(sql).bind(deletedBeforeMs).run();
    }
    gone.chats = db.changes();
    removeLinesOfNoFile(db);
    gone.files.removeIf([&](const Attachment& file) { return isAttached(db, file); });
    return gone;
  });
  for (const Attachment& file : purged.files) m_impl->thumbnails().remove(file);
  return purged;
}

QList<Conversation> ChatDatabase::listConversations(Listed which) {
  return m_impl->list(which == Listed::kDeleted ? "deleted_ms > 0 ORDER BY deleted_ms DESC, id DESC"
                                                : "deleted_ms = 0 ORDER BY pinned DESC, activity DESC, updated_ms DESC");
}

Conversation ChatDatabase::conversation(ConversationId id) {
  return m_impl->access([&](SqliteConnection& db) { return m_impl->require(db, id); });
}

LoadedConversation ChatDatabase::loadConversation(ConversationId id) {
  LoadedConversation loaded = m_impl->access([&](SqliteConnection& db) {
    LoadedConversation result;
    result.conversation = m_impl->require(db, id);
    result.messages = readMessages(db, id);
    result.comparisons = readComparisons(db, id);
    result.draft.attachments = readDraftAttachments(db, id);
    SqliteStatement row = db.prepare("SELECT draft, anchor_message, anchor_offset FROM conversation WHERE id = ?");
    if (row.bind(id).step()) {
      result.draft.text = row.text(0);
      result.view = {row.integer(1), row.real(2)};
    }
    return result;
  });
  const auto addThumbnails = [this](QList<Attachment>& attachments) {
    for (Attachment& attachment : attachments) attachment.thumbnailPng = m_impl->thumbnails().load(attachment);
  };
  for (StoredMessage& message : loaded.messages) addThumbnails(message.attachments);
  addThumbnails(loaded.draft.attachments);
  return loaded;
}

QList<SearchHit> ChatDatabase::search(const std::variant<QString, AnswerOfChat>& query, int limit) {
  return m_impl->access([&](SqliteConnection& db) {
    const auto* answer = std::get_if<AnswerOfChat>(&query);
    return answer != nullptr ? linesBehind(db, *answer, limit) : searchChats(db, std::get<QString>(query), limit);
  });
}

TurnIds ChatDatabase::beginTurn(const NewQuestion& question) {
  checkQuestion(question);
  const TurnIds ids = m_impl->write([&](SqliteConnection& db) {
    const Conversation conversation = m_impl->require(db, question.conversation);
    TurnIds made{conversation.id, insertQuestion(db, conversation, question), 0};
    made.answer = insertMessage(db, made.conversation, made.question, Role::kAssistant, MessageState::kStreaming, {});
    touchConversation(db, made.conversation, made.answer, 2);
    return made;
  });
  for (const Attachment& attachment : question.attachments) m_impl->thumbnails().save(attachment);
  return ids;
}

TurnIds ChatDatabase::beginQuestion(const NewQuestion& question) {
  checkQuestion(question);
  const TurnIds ids = m_impl->write([&](SqliteConnection& db) {
    const Conversation conversation = m_impl->require(db, question.conversation);
    const TurnIds made{conversation.id, insertQuestion(db, conversation, question), 0};
    touchConversation(db, made.conversation, made.question, 1);
    return made;
  });
  for (const Attachment& attachment : question.attachments) m_impl->thumbnails().save(attachment);
  return ids;
}

Comparison ChatDatabase::saveComparison(const Comparison& comparison) {
  for (const ComparedAnswer& answer : comparison.columns) {
    checkText(answer.text, "answer");
    checkText(answer.thought, "thought");
  }
  return m_impl->write([&](SqliteConnection& db) {
    Comparison saved = comparison;
    {
      SqliteStatement row = db.prepare("SELECT conversation_id FROM message WHERE id = ? AND role = 2");
      if (!row.bind(comparison.question).step()) unknown("question");
      const qint64 conversation = row.integer(0);
      db.prepare("UPDATE conversation SET activity = ?, updated_ms = ? WHERE id = ?")
          .bind(nextTick(db))
          .bind(nowMs())
          .bind(conversation)
          .run();
    }
    saved.createdMs = nowMs();
    saved.id = insertComparison(db, saved);
    return saved;
  });
}

TurnIds ChatDatabase::useAnswer(qint64 comparison, int place) {
  return m_impl->write([&](SqliteConnection& db) {
    const std::optional<StoredColumn> column = findColumn(db, comparison, place);
    if (!column) unknown("compared answer");
    TurnIds ids{column->conversation, column->question, column->answer.usedAs};
    if (ids.answer != 0) {
      touchConversation(db, ids.conversation, newestUnder(db, ids.answer), 0);
      return ids;
    }
    const bool stopped = column->answer.state == ColumnState::kStopped;
    if (!stopped && column->answer.state != ColumnState::kAnswered)
      throw Exception(ErrorCode::kInvalidArgument, "compared answer", "it was not written");
    ids.answer = insertMessage(db, ids.conversation, ids.question, Role::kAssistant,
                               stopped ? MessageState::kInterrupted : MessageState::kComplete, column->answer.text);
    db.prepare("UPDATE message SET thought = ? WHERE id = ?").bind(column->answer.thought).bind(ids.answer).run();
    indexForSearch(db, ids.answer, column->answer.text);
    insertRun(db, ids.answer, column->answer.run, column->answer.hasFigures ? RunPart::kAll : RunPart::kCause);
    db.prepare("INSERT INTO kept_map(message_id, map) SELECT ?, map FROM comparison_kept_map WHERE comparison_id = ? AND place = ?")
        .bind(ids.answer)
        .bind(comparison)
        .bind(place)
        .run();
    db.prepare("UPDATE comparison_column SET used_as = ? WHERE comparison_id = ? AND place = ?")
        .bind(ids.answer)
        .bind(comparison)
        .bind(place)
        .run();
    touchConversation(db, ids.conversation, ids.answer, 1);
    return ids;
  });
}

void ChatDatabase::saveAgreement(MessageId answer, const Agreement& agreement) {
  m_impl->write([&](SqliteConnection& db) {
    db.prepare("UPDATE run SET agreement_json = ? WHERE message_id = ?").bindText(agreementToJson(agreement)).bind(answer).run();
    if (db.changes() != 1) unknown("answer with figures");
  });
}

TurnIds ChatDatabase::beginAnswer(MessageId question) {
  return m_impl->write([&](SqliteConnection& db) {
    TurnIds ids{0, question, 0};
    {
      SqliteStatement row = db.prepare("SELECT conversation_id FROM message WHERE id = ? AND role = 2");
      if (!row.bind(question).step()) unknown("question");
      ids.conversation = static_cast<ConversationId>(row.integer(0));
    }
    ids.answer = insertMessage(db, ids.conversation, question, Role::kAssistant, MessageState::kStreaming, {});
    touchConversation(db, ids.conversation, ids.answer, 1);
    return ids;
  });
}

void ChatDatabase::storeSampled(MessageId question, int place, const SampledTimes& times) {
  m_impl->write([&](SqliteConnection& db) {
    const qint64 attachment = m_impl->attachmentAt(db, question, place);
    db.prepare("UPDATE attachment SET sampled_json = ? WHERE id = ?").bindText(sampledToJson(times)).bind(attachment).run();
  });
}

void ChatDatabase::storeAsked(MessageId question, int place, const Attachment& asked) {
  m_impl->write([&](SqliteConnection& db) {
    db.prepare("UPDATE attachment SET pins_json = ?, plan_taken = ?, plan_set_frames = ? WHERE message_id = ? AND ordinal = ?")
        .bindText(pinsToJson(asked.pins))
        .bind(asked.plan.taken)
        .bind(asked.plan.set_frames)
        .bind(question)
        .bind(place)
        .run();
    if (db.changes() != 1) unknown("attachment");
  });
}

void ChatDatabase::storeLines(const QByteArray& sha256, LineKind kind, const QList<FileLine>& lines) {
  m_impl->write([&](SqliteConnection& db) { replaceFileLines(db, sha256, kind, lines); });
}

QList<FileLine> ChatDatabase::linesOf(const QByteArray& sha256) {
  return m_impl->access([&](SqliteConnection& db) { return readFileLines(db, sha256); });
}

void ChatDatabase::storeOnShelf(const QByteArray& sha256, const QByteArray& path) {
  m_impl->write([&](SqliteConnection& db) { insertShelfFile(db, sha256, path); });
}

void ChatDatabase::moveMedia(ConversationId id, const QByteArray& from, const QByteArray& to) {
  m_impl->write([&](SqliteConnection& db) { moveAttachments(db, id, from, to); });
}

void ChatDatabase::updateStreaming(MessageId answer, const AnswerSoFar& soFar) {
  checkText(soFar.text, "answer");
  checkText(soFar.thought, "thought");
  m_impl->write([&](SqliteConnection& db) {
    db.prepare("UPDATE message SET text = ?, thought = ? WHERE id = ? AND state = 2")
        .bind(soFar.text)
        .bind(soFar.thought)
        .bind(answer)
        .run();
    if (db.changes() == 1 && soFar.cause) insertRun(db, answer, *soFar.cause, RunPart::kCause);
  });
}

void ChatDatabase::finishTurn(const FinishedTurn& turn) {
  checkText(turn.text, "answer");
  checkText(turn.thought, "thought");
  if (turn.state == MessageState::kStreaming)
    throw Exception(ErrorCode::kInvalidArgument, "answer", "a finished answer cannot be streaming");
  m_impl->write([&](SqliteConnection& db) {
    const bool failed = turn.state == MessageState::kFailed;
    db.prepare("UPDATE message SET text = ?, thought = ?, state = ?, failure_code = ?, failure = ? WHERE id = ? AND state = 2")
        .bind(turn.text)
        .bind(turn.thought)
        .bind(static_cast<int>(turn.state))
        .bind(failed ? static_cast<int>(turn.failureCode) : 0)
        .bind(turn.failure)
        .bind(turn.answer)
        .run();
    if (db.changes() != 1) unknown("unfinished answer");
    indexForSearch(db, turn.answer, turn.text);
    if (turn.hasRun || turn.hasCause) insertRun(db, turn.answer, turn.run, turn.hasRun ? RunPart::kAll : RunPart::kCause);
    if (turn.keptMap) insertKeptMap(db, turn.answer, *turn.keptMap);
    const qint64 tick = nextTick(db);
    db.prepare("UPDATE conversation SET activity = ?, updated_ms = ? WHERE id = (SELECT conversation_id FROM message WHERE id = ?)")
        .bind(tick)
        .bind(nowMs())
        .bind(turn.answer)
        .run();
  });
}

SharedKeptMap ChatDatabase::keptMap(const std::variant<MessageId, AnswerOfComparison>& answer) {
  return m_impl->access([&](SqliteConnection& db) {
    const auto* compared = std::get_if<AnswerOfComparison>(&answer);
    return compared != nullptr ? readComparedKeptMap(db, compared->comparison, compared->place)
                               : readKeptMap(db, std::get<MessageId>(answer));
  });
}

std::optional<Conversation> ChatDatabase::saveDraft(ConversationId id, const Draft& draft) {
  checkText(draft.text, "draft");
  checkAttachments(draft.attachments);
  std::optional<Conversation> called = m_impl->write([&](SqliteConnection& db) -> std::optional<Conversation> {
    const Conversation before = m_impl->require(db, id);
    replaceDraft(db, id, draft);
    callBy(db, before, draft.text, draft.attachments);
    const Conversation now = m_impl->require(db, id);
    return now.preview != before.preview ? std::optional(now) : std::nullopt;
  });
  for (const Attachment& attachment : draft.attachments) m_impl->thumbnails().save(attachment);
  return called;
}

void ChatDatabase::saveViewState(ConversationId id, const ViewState& view) {
  m_impl->write([&](SqliteConnection& db) {
    db.prepare("UPDATE conversation SET anchor_message = ?, anchor_offset = ? WHERE id = ?")
        .bind(view.anchorMessage)
        .bind(view.anchorOffset)
        .bind(id)
        .run();
    if (db.changes() != 1) unknown("conversation");
  });
}

QHash<QString, QString> ChatDatabase::settings() {
  return m_impl->access([&](SqliteConnection& db) {
    QHash<QString, QString> values;
    SqliteStatement row = db.prepare("SELECT key, value FROM setting");
    while (row.step()) values.insert(row.text(0), row.text(1));
    return values;
  });
}

void ChatDatabase::setSetting(const QString& key, const QString& value) {
  if (key.size() + value.size() > kMaxSettingBytes) throw Exception(ErrorCode::kLimitExceeded, "setting", "it is longer than 1 MiB");
  m_impl->write([&](SqliteConnection& db) {
    db.prepare("INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value")
        .bind(key)
        .bind(value)
        .run();
  });
}

}  // namespace winnow::app
