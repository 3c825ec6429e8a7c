#include "app/chats/chat/file_line_rows.h"

#include <QDir>
#include <QFileInfo>
#include <string>
#include <utility>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr qsizetype kMostLines = 200'000;      // of a file; an hour of speech has about 1,000
constexpr qsizetype kMostCharacters = 20'000;  // of a line

QList<FileLine> readLines(SqliteStatement row) {
  QList<FileLine> lines;
  while (row.step()) {
    lines.append({static_cast<LineKind>(row.integer(0)), row.real(1), row.real(2), static_cast<int>(row.integer(3)),
                  static_cast<int>(row.integer(4)), row.text(5)});
  }
  return lines;
}

}  // namespace

void replaceFileLines(SqliteConnection& db, const QByteArray& sha256, LineKind kind, const QList<FileLine>& lines) {
  if (sha256.isEmpty()) throw Exception(ErrorCode::kInvalidArgument, "lines of a file", "its content is not known");
  QList<FileLine> kept = lines.first(qMin(lines.size(), kMostLines));
  for (FileLine& line : kept) {
    line.kind = kind;
    line.text.truncate(kMostCharacters);
  }
  SqliteStatement before =
      db.prepare("SELECT kind, start_s, end_s, line, page, text FROM file_line WHERE sha256 = ? AND kind = ? ORDER BY id");
  before.bindText(sha256).bind(static_cast<int>(kind));
  if (readLines(std::move(before)) == kept) return;
  // The index holds no text of its own: it has to be told the words that go.
  for (const char* sql : {"INSERT INTO file_line_fts(file_line_fts, rowid, text) SELECT 'delete', id, text FROM file_line "
                          "WHERE sha256 = ? AND kind = ?",
                          "DELETE FROM file_line WHERE sha256 = ? AND kind = ?"})
    db.prepare(sql).bindText(sha256).bind(static_cast<int>(kind)).run();
  for (const FileLine& line : kept) {
    SqliteStatement insert =
        db.prepare("INSERT INTO file_line(sha256, kind, start_s, end_s, line, page, text) VALUES(?, ?, ?, ?, ?, ?, ?)");
    insert.bindText(sha256).bind(static_cast<int>(kind)).bind(line.startS).bind(line.endS).bind(line.line).bind(line.page).bind(line.text);
    insert.run();
    db.prepare("INSERT INTO file_line_fts(rowid, text) VALUES(?, ?)").bind(db.lastInsertId()).bind(line.text).run();
  }
}

QList<FileLine> readFileLines(SqliteConnection& db, const QByteArray& sha256) {
  SqliteStatement row =
      db.prepare("SELECT kind, start_s, end_s, line, page, text FROM file_line WHERE sha256 = ? ORDER BY start_s, line, kind, id");
  row.bindText(sha256);
  return readLines(std::move(row));
}

void insertShelfFile(SqliteConnection& db, const QByteArray& sha256, const QByteArray& path) {
  db.prepare("INSERT INTO shelf_file(sha256, path) VALUES(?, ?) ON CONFLICT DO UPDATE SET path = excluded.path WHERE path <> excluded.path")
      .bindText(sha256)
      .bindBlob(path)
      .run();
}

void removeLinesOfNoFile(SqliteConnection& db) {
  QList<QByteArray> gone;
  {
    SqliteStatement row = db.prepare("SELECT sha256, path FROM shelf_file");
    while (row.step()) {
      const QFileInfo file(QFile::decodeName(row.bytes(1)));
      if (!file.exists() && file.dir().exists()) gone << row.bytes(0);
    }
  }
  for (const QByteArray& sha256 : gone) db.prepare("DELETE FROM shelf_file WHERE sha256 = ?").bindText(sha256).run();
  for (const std::string what : {"INSERT INTO file_line_fts(file_line_fts, rowid, text) SELECT 'delete', id, text", "DELETE"}) {
    db.prepare(
          (what + " FROM file_line WHERE sha256 NOT IN (SELECT sha256 FROM attachment) AND sha256 NOT IN (SELECT sha256 FROM shelf_file)")
              .c_str())
        .run();
  }
}

}  // namespace winnow::app
