#include "ui/models/layer_table_model.h"

#include <algorithm>
#include <set>

#include "ui/shell/format_text.h"

namespace winnow::ui {

void LayerTableModel::setLayers(const std::vector<LayerFigures>& layers) {
  if (layers.size() == m_layers.size()) {
    m_layers = layers;
    if (!m_layers.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kColumnCount - 1));
    return;
  }
  beginResetModel();
  m_layers = layers;
  endResetModel();
}

int LayerTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_layers.size()); }
int LayerTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumnCount; }

double LayerTableModel::number(int row, int column) const {
  const LayerFigures& layer = m_layers[static_cast<std::size_t>(row)];
  switch (column) {
    case kLayer:
      return row;
    case kBudget:
      return static_cast<double>(layer.budget);
    case kKept:
      return layer.kept;
    case kVisual:
      return layer.kept_visual;
    case kText:
      return layer.kept_text;
    default:
      return static_cast<double>(layer.bytes) / 1024.0;
  }
}

QVariant LayerTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const double value = number(index.row(), index.column());
  if (role == Qt::UserRole) return value;
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  return formatCount(value);
}

QVariant LayerTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  switch (section) {
    case kLayer:
      return tr("Layer");
    case kBudget:
      return tr("Budget");
    case kKept:
      return tr("Kept");
    case kVisual:
      return tr("Visual");
    case kText:
      return tr("Text");
    case kBytes:
      return tr("KV KiB");
    default:
      return {};
  }
}

QString tabSeparated(const QAbstractItemModel& model, const QModelIndexList& selection) {
  std::set<int> rows;
  for (const QModelIndex& index : selection) rows.insert(index.row());
  if (rows.empty()) {
    for (int row = 0; row < model.rowCount(); ++row) rows.insert(row);
  }
  QStringList lines;
  QStringList header;
  for (int column = 0; column < model.columnCount(); ++column)
    header << model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
  lines << header.join(QLatin1Char('\t'));
  for (const int row : rows) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) {
      cells << QString::number(model.index(row, column).data(Qt::UserRole).toDouble(), 'g', 12);
    }
    lines << cells.join(QLatin1Char('\t'));
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace winnow::ui
