// The layers' figures as a table: the accessible, sortable, copyable twin of the layer chart.
//
// Used by the inspector. Role Qt::UserRole gives the number behind a cell, for sorting. UI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QModelIndexList>
#include <vector>

#include "app/words/attached_words.h"
#include "engine/messages/events.h"

namespace winnow::ui {

class LayerTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  // Kept, visual and text are of the event; written, evicted and now follow the answer. Behind them a column per number of the allocator.
  enum Column : int { kLayer = 0, kBudget, kKept, kVisual, kText, kWritten, kEvicted, kNow, kBytes, kFirstReason };

  using QAbstractTableModel::QAbstractTableModel;
  // slots: per layer, now (CacheFigures::slots); empty: nothing was counted.
  void setLayers(const std::vector<LayerFigures>& layers, const std::vector<SlotCounts>& slots);

  void setAttached(app::AttachedKind attached);  // what "visual" is called, and is

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  double number(int row, int column) const;
  std::vector<LayerFigures> m_layers;
  std::vector<SlotCounts> m_slots;
  app::AttachedKind m_attached = app::AttachedKind::kMixed;
};

// Rows with a header line, cells divided by `separator` (tab, comma); plain numbers, no grouping.
QString separatedValues(const QAbstractItemModel& model, const QModelIndexList& selection, QChar separator);

}  // namespace winnow::ui
