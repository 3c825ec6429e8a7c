#include "app/chats/chat/comparison_rows.h"

#include "app/chats/chat/run_json.h"

namespace winnow::app {

namespace {

ColumnState columnStateFrom(qint64 stored) {
  switch (stored) {
    case 1: return ColumnState::kAnswered;
    case 2: return ColumnState::kStopped;
    case 3: return ColumnState::kFailed;
    default: return ColumnState::kLeftOut;
  }
}

// The row's columns from `first` on: state, shares_prefill, text, has_figures, run_json, used_as, thought.
ComparedAnswer readAnswer(const SqliteStatement& row, int first) {
  ComparedAnswer answer;
  answer.state = columnStateFrom(row.integer(first));
  answer.sharesPrefill = row.integer(first + 1) != 0;
  answer.text = row.text(first + 2);
  answer.hasFigures = row.integer(first + 3) != 0;
  answer.run = runFromJson(row.bytes(first + 4));
  answer.usedAs = row.integer(first + 5);
  answer.thought = row.text(first + 6);
  return answer;
}

}  // namespace

QList<Comparison> readComparisons(SqliteConnection& db, ConversationId id) {
  QList<Comparison> comparisons;
  {
    SqliteStatement row = db.prepare(
        "SELECT c.id, c.message_id, c.created_ms, c.column_order, c.prefills, c.shared_prefix_bytes, c.allocated_bytes, c.stopped, "
        "c.failure_code, c.failure FROM comparison c JOIN message m ON m.id = c.message_id WHERE m.conversation_id = ? ORDER BY c.id");
    row.bind(id);
    while (row.step()) {
      Comparison c;
      c.id = row.integer(0);
      c.question = row.integer(1);
      c.createdMs = row.integer(2);
      c.order = row.integer(3) == static_cast<int>(ColumnOrder::kInterleaved) ? ColumnOrder::kInterleaved : ColumnOrder::kOneAfterAnother;
      c.totals = {row.integer(4), row.integer(5), row.integer(6), row.integer(7) != 0};
      c.failure = row.text(9);
      if (!c.failure.isEmpty()) c.failureCode = static_cast<ErrorCode>(row.integer(8));
      comparisons.push_back(std::move(c));
    }
  }
  for (Comparison& comparison : comparisons) {
    SqliteStatement row = db.prepare(
        "SELECT state, shares_prefill, text, has_figures, run_json, used_as, thought FROM comparison_column WHERE comparison_id = ? ORDER "
        "BY place");
    row.bind(comparison.id);
    while (row.step()) comparison.columns.push_back(readAnswer(row, 0));
    SqliteStatement mapped = db.prepare("SELECT place FROM comparison_kept_map WHERE comparison_id = ?");
    mapped.bind(comparison.id);
    while (mapped.step()) {
      const auto place = static_cast<std::size_t>(mapped.integer(0));
      if (place < comparison.columns.size()) comparison.columns[place].hasKeptMap = true;
    }
  }
  return comparisons;
}

qint64 insertComparison(SqliteConnection& db, const Comparison& comparison) {
  const bool failed = !comparison.failure.isEmpty();
  {
    SqliteStatement insert = db.prepare(
        "INSERT INTO comparison(message_id, created_ms, column_order, prefills, shared_prefix_bytes, allocated_bytes, stopped, "
        "failure_code, "
        "failure) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(comparison.question).bind(comparison.createdMs).bind(static_cast<int>(comparison.order));
    insert.bind(comparison.totals.prefills).bind(comparison.totals.shared_prefix_bytes).bind(comparison.totals.allocated_bytes);
    insert.bind(comparison.totals.stopped ? 1 : 0).bind(failed ? static_cast<int>(comparison.failureCode) : 0).bind(comparison.failure);
    insert.run();
  }
  const qint64 id = db.lastInsertId();
  int place = 0;
  for (const ComparedAnswer& answer : comparison.columns) {
    SqliteStatement insert = db.prepare(
        "INSERT INTO comparison_column(comparison_id, place, state, shares_prefill, text, has_figures, run_json, thought) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(id).bind(place).bind(static_cast<int>(answer.state)).bind(answer.sharesPrefill ? 1 : 0).bind(answer.text);
    insert.bind(answer.hasFigures ? 1 : 0).bindText(runToJson(answer.run)).bind(answer.thought);
    insert.run();
    const QByteArray map = answer.keptMap ? answer.keptMap->toBytes() : QByteArray();
    if (!map.isEmpty() && map.size() <= KeptMap::kMaxBytes) {
      SqliteStatement keep = db.prepare("INSERT INTO comparison_kept_map(comparison_id, place, map) VALUES(?, ?, ?)");
      keep.bind(id).bind(place).bindBlob(map).run();
    }
    ++place;
  }
  return id;
}

SharedKeptMap readComparedKeptMap(SqliteConnection& db, qint64 comparison, int place) {
  SqliteStatement row = db.prepare("SELECT map FROM comparison_kept_map WHERE comparison_id = ? AND place = ?");
  row.bind(comparison).bind(place);
  if (!row.step()) return nullptr;
  std::optional<KeptMap> map = KeptMap::fromBytes(row.bytes(0));
  return map ? std::make_shared<const KeptMap>(*std::move(map)) : nullptr;
}

std::optional<StoredColumn> findColumn(SqliteConnection& db, qint64 comparison, int place) {
  SqliteStatement row = db.prepare(
      "SELECT m.conversation_id, m.id, k.state, k.shares_prefill, k.text, k.has_figures, k.run_json, k.used_as, k.thought FROM "
      "comparison_column k "
      "JOIN comparison c ON c.id = k.comparison_id JOIN message m ON m.id = c.message_id WHERE k.comparison_id = ? AND k.place = ?");
  row.bind(comparison).bind(place);
  if (!row.step()) return std::nullopt;
  return StoredColumn{static_cast<ConversationId>(row.integer(0)), row.integer(1), readAnswer(row, 2)};
}

}  // namespace winnow::app
