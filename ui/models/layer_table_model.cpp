#include "ui/models/layer_table_model.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "app/words/format_text.h"
#include "ui/recipes/method_texts.h"

namespace winnow::ui {
namespace {

#define SAY(text) QT_TRANSLATE_NOOP("winnow::ui::LayerTableModel", text)

struct LayerColumn {
  const char* title;
  const char* help;  // empty: its title says all
  double (*number)(int row, const LayerFigures& layer, const SlotCounts& now);
};

// In the order of LayerTableModel::Column.
constexpr LayerColumn kColumns[] = {
    {SAY("Layer"), "", [](int row, const LayerFigures&, const SlotCounts&) -> double { return row; }},
    {SAY("Budget"), SAY("Limit of the layer, in slots per KV head."),
     [](int, const LayerFigures& layer, const SlotCounts&) { return static_cast<double>(layer.budget); }},
    {SAY("Kept"), SAY("Slots per KV head after compression."),
     [](int, const LayerFigures& layer, const SlotCounts&) { return layer.kept; }},
    {"", SAY("Of these, from attachments."), [](int, const LayerFigures& layer, const SlotCounts&) { return layer.kept_visual; }},
    {SAY("Text"), SAY("Of these, from text."), [](int, const LayerFigures& layer, const SlotCounts&) { return layer.kept_text; }},
    {SAY("Written"), SAY("Slots of the answer."), [](int, const LayerFigures&, const SlotCounts& now) { return now.generated; }},
    {SAY("Evicted"), SAY("Prompt slots evicted while the answer was written."),
     [](int, const LayerFigures& layer, const SlotCounts& now) { return std::max(0.0, layer.kept - now.visual - now.text); }},
    {SAY("Now"), SAY("Slots per KV head in use now."), [](int, const LayerFigures&, const SlotCounts& now) { return now.total(); }},
    {SAY("KV KiB"), SAY("Memory of the slots after compression, in KiB."),
     [](int, const LayerFigures& layer, const SlotCounts&) { return static_cast<double>(layer.bytes) / 1024.0; }},
};

#undef SAY

}  // namespace

static_assert(std::size(kColumns) == LayerTableModel::kFirstReason);

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
  if (column < kFirstReason) return kColumns[column].number(row, layer, now);
  const auto reason = static_cast<std::size_t>(column - kFirstReason);
  return reason < layer.why.size() ? layer.why[reason].second : 0.0;
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
  if (section < 0 || (section >= kFirstReason && !reason)) return {};
  if (role == Qt::ToolTipRole || role == Qt::AccessibleDescriptionRole) {
    if (reason) return reasonHelp(name);
    return *kColumns[section].help == '\0' ? QString() : tr(kColumns[section].help);
  }
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  if (reason) return reasonTitle(name);
  return section == kVisual ? app::attachedLabel(m_attached) : tr(kColumns[section].title);
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
