#include "app/chats/chat/chat_search.h"

namespace winnow::app {
namespace {

constexpr int kMaxSearchWords = 16;

// Words in double quotes are taken literally by FTS5; quotes inside are doubled. The last letter run may go on: prefix.
QString ftsQuery(const QString& query) {
  QString literal;
  int words = 0;
  for (QString word : query.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    if (++words > kMaxSearchWords) break;
    word.remove(QChar(u'\0'));
    word.replace(QLatin1Char('"'), QStringLiteral("\"\""));
    literal += QLatin1Char('"') + word + QStringLiteral("\"* ");
  }
  return literal;
}

QString likePattern(const QString& query) {
  QString pattern = query.simplified();
  pattern.replace(QLatin1Char('\\'), QStringLiteral("\\\\")).replace(QLatin1Char('%'), QStringLiteral("\\%"));
  pattern.replace(QLatin1Char('_'), QStringLiteral("\\_"));
  return QLatin1Char('%') + pattern + QLatin1Char('%');
}

}  // namespace

QList<SearchHit> searchChats(SqliteConnection& db, const QString& query, int limit) {
  QList<SearchHit> hits;
  const QString words = ftsQuery(query);
  if (words.isEmpty() || limit <= 0) return hits;
  {
    SqliteStatement row = db.prepare(
        "SELECT id, title FROM conversation WHERE deleted_ms = 0 AND (title LIKE ?1 ESCAPE '\\' OR draft LIKE ?1 ESCAPE '\\') "
        "ORDER BY activity DESC LIMIT ?2");
    row.bind(likePattern(query)).bind(limit);
    while (row.step()) hits.push_back({static_cast<ConversationId>(row.integer(0)), 0, row.text(1), {}});
  }
  const auto addFound = [&](const char* sql) {
    SqliteStatement row = db.prepare(sql);
    row.bind(words).bind(limit - static_cast<int>(hits.size()));
    while (row.step()) hits.push_back({static_cast<ConversationId>(row.integer(0)), row.integer(1), row.text(2), row.text(3)});
  };
  addFound(
      "SELECT m.conversation_id, m.id, c.title, snippet(message_fts, 0, char(8296), char(8297), char(8230), 24) FROM message_fts f "
      "JOIN message m ON m.id = f.rowid JOIN conversation c ON c.id = m.conversation_id "
      "WHERE message_fts MATCH ? AND c.deleted_ms = 0 ORDER BY f.rank LIMIT ?");
  addFound(
      "SELECT a.conversation_id, coalesce(a.message_id, 0), c.title, "
      "snippet(attachment_fts, -1, char(8296), char(8297), char(8230), 24) FROM attachment_fts f "
      "JOIN attachment a ON a.id = f.rowid JOIN conversation c ON c.id = a.conversation_id "
      "WHERE attachment_fts MATCH ? AND c.deleted_ms = 0 ORDER BY f.rank LIMIT ?");
  return hits;
}

}  // namespace winnow::app
