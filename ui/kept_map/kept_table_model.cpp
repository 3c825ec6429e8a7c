#include "ui/kept_map/kept_table_model.h"

#include "app/words/format_text.h"
#include "ui/kept_map/kept_map_model.h"

namespace winnow::ui {

KeptTableModel::KeptTableModel(KeptMapModel& model, QObject* parent) : QAbstractTableModel(parent), m_model(model) {
  const auto reset = [this] {
    beginResetModel();
    endResetModel();
  };
  connect(&m_model, &KeptMapModel::mapChanged, this, reset);
  connect(&m_model, &KeptMapModel::sharesChanged, this, [this] {
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  });
}

int KeptTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() || m_model.isEmpty() ? 0 : m_model.layers(); }

int KeptTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || m_model.isEmpty() ? 0 : kFirstPart + static_cast<int>(m_model.parts().size());
}

QVariant KeptTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (index.column() == kLayer) return role == Qt::DisplayRole || role == Qt::UserRole ? QVariant(index.row()) : QVariant();
  const int part = index.column() - kFirstPart;
  const double share = m_model.share(index.row(), part);
  if (role == Qt::UserRole) return share;
  if (role == Qt::ToolTipRole) return m_model.describe(index.row(), part);
  if (role != Qt::DisplayRole) return {};
  return m_model.isDifference() && share > 0 ? QLatin1Char('+') + app::formatShare(share)
         : share < 0                         ? QChar(u'−') + app::formatShare(-share)
                                             : app::formatShare(share);
}

QVariant KeptTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || m_model.isEmpty()) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  if (section == kLayer) return tr("Layer");
  const int part = section - kFirstPart;
  return part < static_cast<int>(m_model.parts().size()) ? m_model.partName(part) : QVariant();
}

}  // namespace winnow::ui
