#include "ui/models/layer_table_model.h"

#include <algorithm>
#include <set>

#include "app/words/format_text.h"
#include "ui/recipes/method_texts.h"

namespace winnow::ui {
namespace {

QString columnHelp(int column) {
  switch (column) {
    case LayerTableModel::kBudget:
      return LayerTableModel::tr("Limit of the layer, in slots per KV head.");
    case LayerTableModel::kKept:
      return LayerTableModel::tr("Slots per KV head after compression.");
    case LayerTableModel::kVisual:
      return LayerTableModel::tr("Of these, from attachments.");
    case LayerTableModel::kText:
      return LayerTableModel::tr("Of these, from text.");
    case LayerTableModel::kWritten:
      return LayerTableModel::tr("Slots of the answer.");
    case LayerTableModel::kEvicted:
      return LayerTableModel::tr("Prompt slots evicted while the answer was written.");
    case LayerTableModel::kNow:
      return LayerTableModel::tr("Slots per KV head in use now.");
    case LayerTableModel::kBytes:
      return LayerTableModel::tr("Memory of the slots after compression, in KiB.");
    default:
      return {};
  }
}

}  // namespace

void LayerTableModel::setLayers(const std::vector<LayerFigures>& layers, const std::vector<SlotCounts>& slots) {
  const auto reasons = [](const std::vector<LayerFigures>& of) {
    std::vector<std::string> names;
    for (const auto& [name, value] : of.empty() ? decltype(LayerFigures::why){} : of.front().why) names.push_back(name);
    return names;
  };
  if (layers.size() == m_layers.size() && reasons(layers) == reasons(m_layers)) {
    m_layers = layers;
    m_slots = slots;
    if (!m_layers.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    return;
  }
  beginResetModel();
  m_layers = layers;
  m_slots = slots;
  endResetModel();
}

void LayerTableModel::setAttached(app::AttachedKind attached) {
  if (attached == m_attached) return;
  m_attached = attached;
  Q_EMIT headerDataChanged(Qt::Horizontal, kVisual, kVisual);
}

int LayerTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_layers.size()); }

int LayerTableModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  return kFirstReason + (m_layers.empty() ? 0 : static_cast<int>(m_layers.front().why.size()));
}

double LayerTableModel::number(int row, int column) const {
  const LayerFigures& layer = m_layers[static_cast<std::size_t>(row)];
  const bool counted = static_cast<std::size_t>(row) < m_slots.size();
  const SlotCounts now = counted ? m_slots[static_cast<std::size_t>(row)] : SlotCounts{layer.kept_visual, layer.kept_text, 0.0};
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
    case kWritten:
      return now.generated;
    case kEvicted:
      return std::max(0.0, layer.kept - now.visual - now.text);
    case kNow:
      return now.total();
    case kBytes:
      return static_cast<double>(layer.bytes) / 1024.0;
    default: {
      const auto reason = static_cast<std::size_t>(column - kFirstReason);
      return reason < layer.why.size() ? layer.why[reason].second : 0.0;
    }
  }
}

QVariant LayerTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const double value = number(index.row(), index.column());
  if (role == Qt::UserRole) return value;
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  return index.column() < kFirstReason ? app::formatCount(value) : app::formatReal(value, 3);
}

QVariant LayerTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  const bool reason = section >= kFirstReason && section < columnCount();
  const std::string name = reason ? m_layers.front().why[static_cast<std::size_t>(section - kFirstReason)].first : std::string();
  if (role == Qt::ToolTipRole || role == Qt::AccessibleDescriptionRole) return reason ? reasonHelp(name) : columnHelp(section);
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  if (reason) return reasonTitle(name);
  switch (section) {
    case kLayer:
      return tr("Layer");
    case kBudget:
      return tr("Budget");
    case kKept:
      return tr("Kept");
    case kVisual:
      return app::attachedLabel(m_attached);
    case kText:
      return tr("Text");
    case kWritten:
      return tr("Written");
    case kEvicted:
      return tr("Evicted");
    case kNow:
      return tr("Now");
    case kBytes:
      return tr("KV KiB");
    default:
      return {};
  }
}

QString separatedValues(const QAbstractItemModel& model, const QModelIndexList& selection, QChar separator) {
  std::set<int> rows;
  for (const QModelIndex& index : selection) rows.insert(index.row());
  if (rows.empty()) {
    for (int row = 0; row < model.rowCount(); ++row) rows.insert(row);
  }
  QStringList lines;
  QStringList header;
  for (int column = 0; column < model.columnCount(); ++column)
    header << model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
  lines << header.join(separator);
  for (const int row : rows) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) {
      const QVariant value = model.index(row, column).data(Qt::UserRole);
      cells << (value.typeId() == QMetaType::QString ? value.toString().replace(separator, QLatin1Char(' '))
                                                     : QString::number(value.toDouble(), 'g', 12));
    }
    lines << cells.join(separator);
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace winnow::ui
