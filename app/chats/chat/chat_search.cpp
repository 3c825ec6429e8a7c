#include "app/chats/chat/chat_search.h"

#include <QFileInfo>
#include <QRegularExpression>
#include <QStringList>
#include <memory>
#include <string>

#include "app/chats/chat/chat_rows.h"
#include "app/chats/chat/database_file.h"

namespace winnow::app {
namespace {

constexpr qsizetype kMostSearchWords = 16;
constexpr qsizetype kMostAnswerWords = 64;

// Each taken literally by FTS5: in double quotes, those inside doubled; it may be the beginning of a word.
QStringList wordsOf(const QString& query) {
  QStringList words;
  for (QString word : query.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    if (words.size() == kMostSearchWords) break;
    word.remove(QChar(u'\0'));
    word.replace(QLatin1Char('"'), QStringLiteral("\"\""));
    words << QLatin1Char('"') + word + QStringLiteral("\"*");
  }
  return words;
}

QString likePattern(const QString& query) {
  QString pattern = query.simplified();
  pattern.replace(QLatin1Char('\\'), QStringLiteral("\\\\")).replace(QLatin1Char('%'), QStringLiteral("\\%"));
  pattern.replace(QLatin1Char('_'), QStringLiteral("\\_"));
  return QLatin1Char('%') + pattern + QLatin1Char('%');
}

// Tables that say which file `a` a line is of, and the chat.
struct Place {
  std::string chat;  // and message, title
  std::string kind;
  std::string table;
  std::string which;
};

// Once for every chat: where it was attached last.
const Place kFilesOfChats{"a.conversation_id, coalesce(a.message_id, 0), c.title", "a.kind",
                          "attachment a ON a.sha256 = l.sha256 JOIN conversation c ON c.id = a.conversation_id",
                          "c.deleted_ms = 0 AND a.id = "
                          "(SELECT max(b.id) FROM attachment b WHERE b.sha256 = a.sha256 AND b.conversation_id = a.conversation_id)"};
const Place kFilesOnShelf{"0, 0, ''", std::to_string(static_cast<int>(MediaKind::kVideo)), "shelf_file a ON a.sha256 = l.sha256",
                          "a.sha256 NOT IN (SELECT b.sha256 FROM attachment b JOIN conversation c ON c.id = b.conversation_id "
                          "WHERE c.deleted_ms = 0)"};

std::string lineHits(const Place& place, const std::string& ofFiles) {
  return "SELECT " + place.chat + ", snippet(file_line_fts, 0, char(8296), char(8297), char(8230), 24), a.path, a.sha256, " + place.kind +
         ", l.kind, l.start_s, l.end_s, l.line, l.page, l.text, f.rank FROM file_line_fts f JOIN file_line l ON l.id = f.rowid JOIN " +
         place.table + " WHERE file_line_fts MATCH ? AND " + place.which + ofFiles + " ORDER BY f.rank LIMIT ?";
}

constexpr char kFilesWith[] = "SELECT l.sha256 FROM file_line_fts f JOIN file_line l ON l.id = f.rowid WHERE file_line_fts MATCH ?";

// Lines of files that have every one of the words, but not in one line.
std::string scatteredHits(const Place& place, qsizetype words) {
  std::string all = kFilesWith;
  for (qsizetype i = 1; i < words; ++i) all += std::string(" INTERSECT ") + kFilesWith;
  return lineHits(place, " AND l.sha256 IN (" + all + ") AND l.sha256 NOT IN (" + kFilesWith + ")");
}

// Words as FTS5 takes text apart, each once.
QStringList plainWordsOf(const QString& text) {
  static const QRegularExpression between(QStringLiteral("[^\\p{L}\\p{N}]+"), QRegularExpression::UseUnicodePropertiesOption);
  QStringList words = text.toLower().split(between, Qt::SkipEmptyParts);
  words.removeDuplicates();
  return words.mid(0, kMostAnswerWords);
}

SearchHit hitOf(const SqliteStatement& row) {
  return {static_cast<ConversationId>(row.integer(0)), row.integer(1), row.text(2), row.text(3)};
}

FoundPlace placeOf(const SqliteStatement& row) {
  FoundPlace place{row.bytes(4), row.bytes(5), mediaKindFrom(row.integer(6)), {}};
  place.line = {static_cast<LineKind>(row.integer(7)), row.real(8), row.real(9), static_cast<int>(row.integer(10)),
                static_cast<int>(row.integer(11)),     row.text(12)};
  return place;
}

}  // namespace

QList<SearchHit> searchChats(SqliteConnection& db, const QString& query, int limit) {
  QList<SearchHit> hits;
  const QStringList words = wordsOf(query);
  if (words.isEmpty() || limit <= 0) return hits;
  const QString all = words.join(QLatin1Char(' '));
  const auto room = [&] { return limit - static_cast<int>(hits.size()); };
  {
    SqliteStatement row = db.prepare(
        "SELECT id, title FROM conversation WHERE deleted_ms = 0 AND (title LIKE ?1 ESCAPE '\\' OR draft LIKE ?1 ESCAPE '\\') "
        "ORDER BY activity DESC LIMIT ?2");
    row.bind(likePattern(query)).bind(limit);
    while (row.step()) hits.push_back({static_cast<ConversationId>(row.integer(0)), 0, row.text(1), {}});
  }
  const auto addHits = [&](const char* sql) {
    SqliteStatement row = db.prepare(sql);
    row.bind(all).bind(room());
    while (row.step()) hits.push_back(hitOf(row));
  };
  addHits(
      "SELECT m.conversation_id, m.id, c.title, snippet(message_fts, 0, char(8296), char(8297), char(8230), 24) FROM message_fts f "
      "JOIN message m ON m.id = f.rowid JOIN conversation c ON c.id = m.conversation_id "
      "WHERE message_fts MATCH ? AND c.deleted_ms = 0 ORDER BY f.rank LIMIT ?");
  const auto addLines = [&](SqliteStatement& row) {
    row.bind(room());
    while (row.step()) {
      hits.push_back(hitOf(row));
      hits.back().place = placeOf(row);
    }
  };
  for (const Place& place : {kFilesOfChats, kFilesOnShelf}) {
    SqliteStatement row = db.prepare(lineHits(place, {}).c_str());
    row.bind(all);
    addLines(row);
  }
  for (const Place& place : {kFilesOfChats, kFilesOnShelf}) {
    if (words.size() < 2) break;
    SqliteStatement row = db.prepare(scatteredHits(place, words.size()).c_str());
    row.bind(words.join(QStringLiteral(" OR ")));
    for (const QString& word : words) row.bind(word);
    row.bind(all);
    addLines(row);
  }
  addHits(
      "SELECT a.conversation_id, coalesce(a.message_id, 0), c.title, snippet(file_name_fts, 0, char(8296), char(8297), char(8230), 24) "
      "FROM file_name_fts f JOIN attachment a ON a.id = f.rowid JOIN conversation c ON c.id = a.conversation_id "
      "WHERE file_name_fts MATCH ? AND c.deleted_ms = 0 ORDER BY f.rank LIMIT ?");
  return hits;
}

QList<SearchHit> linesBehind(SqliteConnection& db, const AnswerOfChat& answer, int limit) {
  QStringList words;
  {
    SqliteStatement row = db.prepare("SELECT m.text FROM message m, message a WHERE a.id = ?1 AND m.id IN (a.id, a.parent_id)");
    row.bind(answer.answer);
    while (row.step()) words << plainWordsOf(row.text(0));
  }
  QList<SearchHit> hits;
  if (words.isEmpty()) return hits;
  static const std::string sql = lineHits(kFilesOfChats, " AND a.conversation_id = ? AND a.message_id <= ? AND l.kind <> ?");
  SqliteStatement row = db.prepare(sql.c_str());
  row.bind(QLatin1Char('"') + words.join(QStringLiteral("\" OR \"")) + QLatin1Char('"'));
  row.bind(static_cast<qint64>(answer.chat)).bind(answer.answer).bind(static_cast<int>(LineKind::kDescribed)).bind(limit);
  double best = 0.0;  // ranks are negative
  while (row.step() && row.real(13) <= best / 2) {
    if (hits.isEmpty()) best = row.real(13);
    hits.push_back(hitOf(row));
    hits.back().place = placeOf(row);
  }
  return hits;
}

QList<SearchHit> searchSavedChats(const ChatFolders& folders, const QString& query, int limit) {
  const QString file = ChatDatabase::databaseFile(folders);
  if (const std::unique_ptr<SqliteConnection> db = openToRead(file)) return searchChats(*db, query, limit);
  if (!QFileInfo::exists(file)) return {};
  return ChatDatabase(folders).search(query, limit);  // of an older version: it is brought up to this one
}

}  // namespace winnow::app
