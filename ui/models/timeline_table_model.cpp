#include "ui/models/timeline_table_model.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

using Mark = app::TimelinePoint::Mark;

class TimelineWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::TimelineWords)
};

double kib(double bytes) { return bytes / 1024.0; }

}  // namespace

QString markText(Mark mark) {
  switch (mark) {
    case Mark::kNone:
      return {};
    case Mark::kPrefillEnd:
      return TimelineWords::tr("Read");
    case Mark::kEvent:
      return TimelineWords::tr("Compressed");
    case Mark::kEviction:
      return TimelineWords::tr("First eviction");
    case Mark::kEnd:
      return TimelineWords::tr("Answered");
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
  double value = 0.0;
  switch (index.column()) {
    case kTurn:
      return turn;
    case kEvent:
      return markText(point.mark);
    case kSeconds:
      if (role == Qt::DisplayRole) return app::formatFixed(point.ms / 1000.0, 2);
      return point.ms / 1000.0;
    case kTotal:
      value = kib(point.total());
      break;
    case kFull:
      value = kib(point.full);
      break;
    case kText:
      value = kib(point.text);
      break;
    case kImages:
      value = kib(point.image);
      break;
    case kVideos:
      value = kib(point.video);
      break;
    case kAnswer:
      value = kib(point.generated);
      break;
    case kSpeed:
      value = point.tokensPerS;
      break;
  }
  if (role == Qt::UserRole) return value;
  return app::formatCount(value);
}

QVariant TimelineTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return QVariant((section == kEvent ? Qt::AlignHCenter : Qt::AlignRight) | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole && section == kFull) return tr("What the same tokens would take without compression");
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  switch (section) {
    case kTurn:
      return tr("Turn");
    case kSeconds:
      return tr("Seconds");
    case kEvent:
      return tr("What");
    case kTotal:
      return tr("KV KiB");
    case kFull:
      return tr("Full KiB");
    case kText:
      return tr("Text KiB");
    case kImages:
      return tr("Images KiB");
    case kVideos:
      return tr("Videos KiB");
    case kAnswer:
      return tr("Answer KiB");
    case kSpeed:
      return tr("Tokens/s");
    default:
      return {};
  }
}

}  // namespace winnow::ui
