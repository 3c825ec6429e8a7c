// The heat-map's numbers as a table: a row per layer, a column per part of the prompt; the accessible, copyable twin.
//
// Qt::UserRole gives the share behind a cell in [0, 1] (of a difference: in [-1, 1]), as separatedValues() of layer_table_model.h writes
// it. UI thread only.
#pragma once

#include <QAbstractTableModel>

namespace winnow::ui {

class KeptMapModel;

class KeptTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  static constexpr int kLayer = 0;
  static constexpr int kFirstPart = 1;

  explicit KeptTableModel(KeptMapModel& model, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  KeptMapModel& m_model;
};

}  // namespace winnow::ui
