#include "app/chats/chat/chat_rows.h"

#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <bit>

#include "app/chats/chat/run_json.h"

namespace winnow::app {

namespace {

// The columns as readAttachment() takes them; rows: which of a conversation's, and in which order.
std::string attachments(const char* rows) {
  return std::string(
             "SELECT message_id, id, kind, path, sha256, size_bytes, width_px, height_px, duration_s, plan_frame_count, plan_every_s, "
             "plan_from_s, plan_to_s, plan_max_frames, sampled_json, pins_json, words, most_tokens, subtitles, encoding, detail, "
             "plan_taken, plan_set_frames, first_page, last_page, "
             "EXISTS(SELECT 1 FROM file_line l WHERE l.sha256 = attachment.sha256 AND l.start_s >= 0) FROM "
             "attachment "
             "WHERE conversation_id = ? AND message_id IS ") +
         rows;
}
const std::string& messageAttachments() {
  static const std::string sql = attachments("NOT NULL ORDER BY message_id, ordinal");
  return sql;
}
const std::string& draftAttachments() {
  static const std::string sql = attachments("NULL ORDER BY ordinal");
  return sql;
}

Attachment readAttachment(const SqliteStatement& row) {
  Attachment attachment;
  attachment.id = row.integer(1);
  attachment.kind = mediaKindFrom(row.integer(2));
  attachment.path = row.bytes(3);
  attachment.sha256 = row.bytes(4);
  attachment.sizeBytes = row.integer(5);
  attachment.widthPx = static_cast<int>(row.integer(6));
  attachment.heightPx = static_cast<int>(row.integer(7));
  attachment.durationS = row.real(8);
  attachment.plan = {static_cast<int>(row.integer(9)), row.real(10), row.real(11), row.real(12), static_cast<int>(row.integer(13))};
  attachment.sampled = sampledFromJson(row.bytes(14));
  attachment.pins = pinsFromJson(row.bytes(15));
  attachment.words = row.integer(16);
  attachment.mostTokens = row.integer(17);
  attachment.subtitles = row.bytes(18);
  attachment.encoding = row.bytes(19);
  attachment.detail = detail_of(row.bytes(20).toStdString()).value_or(MediaDetail());
  attachment.plan.taken = std::max(0, static_cast<int>(row.integer(21)));
  attachment.plan.set_frames = std::max(1, static_cast<int>(row.integer(22)));
  attachment.pages = {static_cast<int>(row.integer(23)), static_cast<int>(row.integer(24))};
  attachment.hasContents = row.integer(25) != 0;
  return attachment;
}

QString foundName(const QByteArray& path) { return QFileInfo(QFile::decodeName(path)).fileName(); }

Guard guardFrom(qint64 stored) {
  for (const Guard guard : {Guard::kPrefill, Guard::kRam, Guard::kAlone}) {
    if (stored == static_cast<qint64>(guard)) return guard;
  }
  return Guard::kKeep;
}

MessageState stateFrom(qint64 stored) {
  switch (stored) {
    case 1: return MessageState::kComplete;
    case 2: return MessageState::kStreaming;
    case 3: return MessageState::kInterrupted;
    case 5: return MessageState::kAbandoned;
    default: return MessageState::kFailed;
  }
}

Role roleFrom(qint64 stored) {
  switch (stored) {
    case 1: return Role::kSystem;
    case 3: return Role::kAssistant;
    default: return Role::kUser;
  }
}

// A recipe that cannot be read (older row, newer program) is told by its method and share alone.
NamedRecipe storedRecipe(const QByteArray& json, const QString& method, double retention) {
  try {
    if (!json.isEmpty()) return recipeFromJson({json.constData(), static_cast<std::size_t>(json.size())}, "chats");
  } catch (const Exception&) {
  }
  return {.spec = {.method = method.toStdString(), .retention = retention}};
}

void readRuns(SqliteConnection& db, ConversationId id, const QHash<MessageId, qsizetype>& places, QList<StoredMessage>& messages) {
  SqliteStatement runs = db.prepare(
      "SELECT r.message_id, r.model_name, r.model_folder, r.device, r.method, r.retention, r.seed, r.figures_json, r.recipe_json, "
      "r.agreement_json, r.makers_json, r.has_figures FROM run r "
      "JOIN message m ON m.id = r.message_id WHERE m.conversation_id = ?");
  runs.bind(id);
  while (runs.step()) {
    const auto place = places.constFind(runs.integer(0));
    if (place == places.cend()) continue;
    StoredMessage& message = messages[*place];
    message.hasCause = true;
    message.hasRun = runs.integer(11) != 0;
    message.run.modelName = runs.text(1);
    message.run.modelFolder = runs.text(2);
    message.run.device = runs.text(3);
    figuresFromJson(runs.bytes(7), message.run);
    message.run.figures.method = runs.text(4).toStdString();
    message.run.figures.retention = runs.real(5);
    message.run.figures.seed = std::bit_cast<quint64>(runs.integer(6));
    message.run.recipe = storedRecipe(runs.bytes(8), runs.text(4), runs.real(5));
    message.run.agreement = agreementFromJson(runs.bytes(9));
    // After a restart, older programs judged another cache than the answer's: such a verdict is no verdict.
    if (message.run.agreement && !message.run.agreement->same) message.run.agreement.reset();
    message.run.makers = makersFromText(runs.bytes(10));
  }
  SqliteStatement layers = db.prepare(
      "SELECT l.message_id, l.budget, l.kept, l.kept_visual, l.kept_text, l.bytes, l.kept_per_head, l.why_json, l.end_json FROM run_layer "
      "l "
      "JOIN message m ON m.id = l.message_id WHERE m.conversation_id = ? ORDER BY l.message_id, l.layer");
  layers.bind(id);
  while (layers.step()) {
    const auto place = places.constFind(layers.integer(0));
    if (place == places.cend()) continue;
    LayerFigures figures;
    figures.budget = layers.integer(1);
    figures.kept = layers.real(2);
    figures.kept_visual = layers.real(3);
    figures.kept_text = layers.real(4);
    figures.bytes = layers.integer(5);
    figures.kept_per_head = keptPerHeadFromJson(layers.bytes(6));
    figures.why = reasonsFromJson(layers.bytes(7));
    figures.end = slotCountsFromJson(layers.bytes(8));
    messages[*place].run.figures.layers.push_back(std::move(figures));
  }
}

}  // namespace

MediaKind mediaKindFrom(qint64 stored) {
  switch (stored) {
    case 2: return MediaKind::kVideo;
    case 3: return MediaKind::kDocument;
    default: return MediaKind::kImage;
  }
}

Conversation readConversation(const SqliteStatement& row) {
  Conversation c;
  c.id = static_cast<ConversationId>(row.integer(0));
  c.title = row.text(1);
  c.createdMs = row.integer(2);
  c.updatedMs = row.integer(3);
  c.activity = row.integer(4);
  c.deletedMs = row.integer(5);
  c.pinned = row.integer(6) != 0;
  c.messageCount = static_cast<int>(row.integer(7));
  c.preview = row.text(8);
  c.activeLeaf = row.integer(9);
  c.options.recipe = storedRecipe(row.bytes(14), row.text(10), row.real(11));
  c.options.frameCount = static_cast<int>(row.integer(12));
  c.options.systemPrompt = row.text(13);
  c.options.laterQuestions = guardFrom(row.integer(15));
  c.options.sampling = samplingFromJson(row.bytes(16));
  return c;
}

SqliteStatement& bindOptions(SqliteStatement& statement, const ConversationOptions& options) {
  return statement.bind(QString::fromStdString(options.recipe.spec.method))
      .bind(options.recipe.spec.retention)
      .bind(options.frameCount)
      .bind(options.systemPrompt)
      .bindText(QByteArray::fromStdString(recipeToJson(options.recipe, -1)))
      .bind(static_cast<qint64>(options.laterQuestions))
      .bindText(samplingToJson(options.sampling));
}

ConversationId insertConversation(SqliteConnection& db, const Conversation& conversation) {
  SqliteStatement insert = db.prepare(
      "INSERT INTO conversation(title, created_ms, updated_ms, activity, method, retention, frame_count, system_prompt, recipe_json, "
      "later_questions, sampling_json) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(conversation.title.left(kMaxTitleLength))
      .bind(conversation.createdMs)
      .bind(conversation.updatedMs)
      .bind(conversation.activity);
  bindOptions(insert, conversation.options).run();
  return static_cast<ConversationId>(db.lastInsertId());
}

std::optional<Conversation> findConversation(SqliteConnection& db, ConversationId id) {
  static const std::string sql = std::string("SELECT ") + kConversationColumns + " FROM conversation WHERE id = ?";
  SqliteStatement row = db.prepare(sql.c_str());
  row.bind(id);
  if (!row.step()) return std::nullopt;
  return readConversation(row);
}

QList<StoredMessage> readMessages(SqliteConnection& db, ConversationId id) {
  QList<StoredMessage> messages;
  QHash<MessageId, qsizetype> places;
  {
    SqliteStatement row = db.prepare(
        "SELECT id, parent_id, sequence, role, state, text, created_ms, failure_code, failure, digest <> winnow_digest(text, thought), "
        "thought "
        "FROM message WHERE conversation_id = ? ORDER BY sequence");
    row.bind(id);
    while (row.step()) {
      StoredMessage message;
      message.id = row.integer(0);
      message.conversation = id;
      message.parent = row.integer(1);
      message.sequence = row.integer(2);
      message.role = roleFrom(row.integer(3));
      message.state = stateFrom(row.integer(4));
      message.text = row.text(5);
      message.createdMs = row.integer(6);
      if (message.state == MessageState::kFailed) message.failureCode = static_cast<ErrorCode>(row.integer(7));
      message.failure = row.text(8);
      message.damaged = row.integer(9) != 0;
      message.thought = row.text(10);
      places.insert(message.id, messages.size());
      messages.push_back(std::move(message));
    }
  }
  {
    SqliteStatement row = db.prepare(messageAttachments().c_str());
    row.bind(id);
    while (row.step()) {
      const auto place = places.constFind(row.integer(0));
      if (place != places.cend()) messages[*place].attachments.push_back(readAttachment(row));
    }
  }
  readRuns(db, id, places, messages);
  SqliteStatement mapped =
      db.prepare("SELECT k.message_id FROM kept_map k JOIN message m ON m.id = k.message_id WHERE m.conversation_id = ?");
  mapped.bind(id);
  while (mapped.step()) {
    const auto place = places.constFind(mapped.integer(0));
    if (place != places.cend()) messages[*place].hasKeptMap = true;
  }
  return messages;
}

QList<Attachment> readDraftAttachments(SqliteConnection& db, ConversationId id) {
  QList<Attachment> attachments;
  SqliteStatement row = db.prepare(draftAttachments().c_str());
  row.bind(id);
  while (row.step()) attachments.push_back(readAttachment(row));
  return attachments;
}

QList<Attachment> readFilesOf(SqliteConnection& db, qint64 deletedBeforeMs) {
  QList<Attachment> files;
  SqliteStatement row = db.prepare(
      "SELECT DISTINCT a.path, a.sha256, a.size_bytes FROM attachment a JOIN conversation c ON c.id = a.conversation_id "
      "WHERE c.deleted_ms > 0 AND c.deleted_ms < ?");
  row.bind(deletedBeforeMs);
  while (row.step()) {
    Attachment& file = files.emplace_back();
    file.path = row.bytes(0);
    file.sha256 = row.bytes(1);
    file.sizeBytes = row.integer(2);
  }
  return files;
}

bool isAttached(SqliteConnection& db, const Attachment& file) {
  SqliteStatement row = db.prepare("SELECT 1 FROM attachment WHERE path = ? OR (sha256 = ? AND sha256 <> '') LIMIT 1");
  row.bindBlob(file.path).bindText(file.sha256);
  return row.step();
}

void deleteDraftAttachments(SqliteConnection& db, ConversationId id) {
  db.prepare("DELETE FROM file_name_fts WHERE rowid IN (SELECT id FROM attachment WHERE conversation_id = ? AND message_id IS NULL)")
      .bind(id)
      .run();
  db.prepare("DELETE FROM attachment WHERE conversation_id = ? AND message_id IS NULL").bind(id).run();
}

void moveAttachments(SqliteConnection& db, ConversationId id, const QByteArray& from, const QByteArray& to) {
  db.prepare("UPDATE file_name_fts SET name = ? WHERE rowid IN (SELECT id FROM attachment WHERE conversation_id = ? AND path = ?)")
      .bind(foundName(to))
      .bind(id)
      .bindBlob(from)
      .run();
  for (const char* change : {"UPDATE attachment SET path = ? WHERE conversation_id = ? AND path = ?",
                             "UPDATE attachment SET subtitles = ? WHERE conversation_id = ? AND subtitles = ?"})
    db.prepare(change).bindBlob(to).bind(id).bindBlob(from).run();
}

void insertAttachments(SqliteConnection& db, ConversationId id, MessageId message, const QList<Attachment>& attachments) {
  int ordinal = 0;
  for (const Attachment& a : attachments) {
    SqliteStatement insert = db.prepare(
        "INSERT INTO attachment(conversation_id, message_id, ordinal, kind, path, sha256, size_bytes, width_px, height_px, duration_s, "
        "plan_frame_count, plan_every_s, plan_from_s, plan_to_s, plan_max_frames, pins_json, words, most_tokens, subtitles, encoding, "
        "detail, plan_taken, plan_set_frames, first_page, last_page) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(id).bindIdOrNull(message).bind(ordinal++).bind(static_cast<int>(a.kind)).bindBlob(a.path).bindText(a.sha256);
    insert.bind(a.sizeBytes).bind(a.widthPx).bind(a.heightPx).bind(a.durationS);
    insert.bind(a.plan.frame_count).bind(a.plan.every_s).bind(a.plan.from_s).bind(a.plan.to_s).bind(a.plan.max_frames);
    insert.bindText(pinsToJson(a.pins));
    insert.bind(a.words).bind(a.mostTokens).bindBlob(a.subtitles).bindText(a.encoding);
    insert.bindText(QByteArray::fromStdString(detail_word(a.detail)));
    insert.bind(a.plan.taken).bind(a.plan.set_frames).bind(a.pages.first).bind(a.pages.last);
    insert.run();
    db.prepare("INSERT INTO file_name_fts(rowid, name) VALUES(?, ?)").bind(db.lastInsertId()).bind(foundName(a.path)).run();
  }
}

void insertRun(SqliteConnection& db, MessageId message, const Run& run, RunPart part) {
  {
    SqliteStatement insert = db.prepare(
        "INSERT OR REPLACE INTO run(message_id, model_name, model_folder, device, method, retention, seed, figures_json, recipe_json, "
        "agreement_json, makers_json, has_figures) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(message).bind(run.modelName).bind(run.modelFolder).bind(run.device);
    insert.bindText(QByteArray::fromStdString(run.figures.method)).bind(run.figures.retention);
    insert.bind(std::bit_cast<qint64>(static_cast<quint64>(run.figures.seed))).bindText(figuresToJson(run));
    insert.bindText(QByteArray::fromStdString(recipeToJson(run.recipe, -1))).bindText(agreementToJson(run.agreement));
    insert.bindText(makersToText(run.makers)).bind(part == RunPart::kAll ? 1 : 0);
    insert.run();
  }
  if (part == RunPart::kCause) return;
  int number = 0;
  for (const LayerFigures& layer : run.figures.layers) {
    SqliteStatement insert = db.prepare(
        "INSERT INTO run_layer(message_id, layer, budget, kept, kept_visual, kept_text, bytes, kept_per_head, why_json, end_json) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(message).bind(number++).bind(static_cast<qint64>(layer.budget));
    insert.bind(layer.kept).bind(layer.kept_visual).bind(layer.kept_text);
    insert.bind(static_cast<qint64>(layer.bytes)).bindText(keptPerHeadToJson(layer.kept_per_head));
    insert.bindText(reasonsToJson(layer.why)).bindText(slotCountsToJson(layer.end));
    insert.run();
  }
}

void insertKeptMap(SqliteConnection& db, MessageId message, const KeptMap& map) {
  const QByteArray bytes = map.toBytes();
  if (bytes.size() > KeptMap::kMaxBytes) return;
  SqliteStatement insert = db.prepare("INSERT INTO kept_map(message_id, map) VALUES(?, ?)");
  insert.bind(message).bindBlob(bytes).run();
}

SharedKeptMap readKeptMap(SqliteConnection& db, MessageId message) {
  SqliteStatement row = db.prepare("SELECT map FROM kept_map WHERE message_id = ?");
  row.bind(message);
  if (!row.step()) return nullptr;
  std::optional<KeptMap> map = KeptMap::fromBytes(row.bytes(0));
  return map ? std::make_shared<const KeptMap>(*std::move(map)) : nullptr;
}

void indexForSearch(SqliteConnection& db, MessageId message, const QString& text) {
  SqliteStatement insert = db.prepare("INSERT INTO message_fts(rowid, text) VALUES(?, ?)");
  insert.bind(message).bind(text).run();
}

qint64 nextTick(SqliteConnection& db) {
  SqliteStatement advance = db.prepare("UPDATE clock SET tick = tick + 1 RETURNING tick");
  if (!advance.step()) throw Exception(ErrorCode::kStorage, "clock", "the sequence counter is missing");
  const qint64 tick = advance.integer(0);
  advance.run();
  return tick;
}

}  // namespace winnow::app
