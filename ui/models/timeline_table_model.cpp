#include "ui/models/timeline_table_model.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>

#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

using Mark = app::TimelinePoint::Mark;

class TimelineWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::TimelineWords)
};

#define SAY(text) QT_TRANSLATE_NOOP("winnow::ui::TimelineTableModel", text)

constexpr double kKib = 1024.0;

struct PointColumn {
  const char* title;
  double (*number)(const app::TimelinePoint& point);  // null: data() has it
};

// In the order of TimelineTableModel::Column.
constexpr PointColumn kTexts[] = {
    {SAY("Turn"), nullptr},
    {SAY("Seconds"), nullptr},
    {SAY("What"), nullptr},
    {SAY("KV KiB"), [](const app::TimelinePoint& point) { return point.total() / kKib; }},
    {SAY("Full KiB"), [](const app::TimelinePoint& point) { return point.full / kKib; }},
    {SAY("Text KiB"), [](const app::TimelinePoint& point) { return point.text / kKib; }},
    {SAY("Images KiB"), [](const app::TimelinePoint& point) { return point.image / kKib; }},
    {SAY("Videos KiB"), [](const app::TimelinePoint& point) { return point.video / kKib; }},
    {SAY("Answer KiB"), [](const app::TimelinePoint& point) { return point.generated / kKib; }},
    {SAY("Tokens/s"), [](const app::TimelinePoint& point) { return point.tokensPerS; }},
};

#undef SAY

}  // namespace

static_assert(std::size(kTexts) == TimelineTableModel::kColumns);

QString markText(Mark mark) {
  switch (mark) {
    case Mark::kNone: return {};
    case Mark::kPrefillEnd: return TimelineWords::tr("Read");
    case Mark::kEvent: return TimelineWords::tr("Compressed");
    case Mark::kEviction: return TimelineWords::tr("First eviction");
    case Mark::kEnd: return TimelineWords::tr("Answered");
  }
  return {};
}

void TimelineTableModel::setTurns(const std::vector<app::TurnTimeline>& turns) {
  std::vector<Row> rows;
  for (std::size_t turn = 0; turn < turns.size(); ++turn) {
    for (const app::TimelinePoint& point : turns[turn].points) rows.push_back({static_cast<int>(turn) + 1, point});
  }
  // An answer only adds rows: what is selected and scrolled to stays.
  const bool grows = rows.size() >= m_rows.size() && std::equal(m_rows.begin(), m_rows.end(), rows.begin());
  if (grows && rows.size() == m_rows.size()) return;
  if (grows) {
    beginInsertRows({}, static_cast<int>(m_rows.size()), static_cast<int>(rows.size()) - 1);
    m_rows = std::move(rows);
    endInsertRows();
  } else {
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
  }
}

int TimelineTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }
int TimelineTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant TimelineTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= kColumns) return {};
  if (role == Qt::TextAlignmentRole) return QVariant((index.column() == kEvent ? Qt::AlignHCenter : Qt::AlignRight) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::UserRole) return {};
  const auto& [turn, point] = m_rows[static_cast<std::size_t>(index.row())];
  if (index.column() == kTurn) return turn;
  if (index.column() == kEvent) return markText(point.mark);
  const bool shown = role == Qt::DisplayRole;
  if (index.column() == kSeconds) return shown ? QVariant(app::formatFixed(point.ms / 1000.0, 2)) : QVariant(point.ms / 1000.0);
  const double value = kTexts[index.column()].number(point);
  return shown ? QVariant(app::formatCount(value)) : QVariant(value);
}

QVariant TimelineTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return QVariant((section == kEvent ? Qt::AlignHCenter : Qt::AlignRight) | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole && section == kFull) return tr("What the same tokens would take without compression");
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  return section >= 0 && section < kColumns ? QVariant(tr(kTexts[section].title)) : QVariant();
}

}  // namespace winnow::ui
