// The layers' figures as a table: the accessible, sortable, copyable twin of the layer chart.
//
// Used by the inspector. Role Qt::UserRole gives the number behind a cell, for sorting. UI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QModelIndexList>
#include <vector>

#include "engine/api/events.h"

namespace winnow::ui {

class LayerTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column : int { kLayer = 0, kBudget, kKept, kVisual, kText, kBytes, kColumnCount };

  using QAbstractTableModel::QAbstractTableModel;
  void setLayers(const std::vector<LayerFigures>& layers);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  double number(int row, int column) const;
  std::vector<LayerFigures> m_layers;
};

// Rows as tab-separated values with a header line; plain numbers, no grouping.
QString tabSeparated(const QAbstractItemModel& model, const QModelIndexList& selection);

}  // namespace winnow::ui
