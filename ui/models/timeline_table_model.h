// The timeline of a conversation's turns as a table: the accessible, copyable twin of the chart.
//
// Used by the inspector. Role Qt::UserRole gives what is copied: plain numbers and words. UI thread only.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "app/chats/chat/turn_timeline.h"

namespace winnow::ui {

class TimelineTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  // Seconds count from the question of the row's turn; sizes are KiB.
  enum Column : int { kTurn = 0, kSeconds, kEvent, kTotal, kFull, kText, kImages, kVideos, kAnswer, kSpeed, kColumns };

  using QAbstractTableModel::QAbstractTableModel;
  void setTurns(const std::vector<app::TurnTimeline>& turns);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    int turn = 0;
    app::TimelinePoint point;
    friend bool operator==(const Row&, const Row&) = default;
  };
  std::vector<Row> m_rows;
};

// "Prefill done", "Compressed"; empty for a point without a mark.
QString markText(app::TimelinePoint::Mark mark);

}  // namespace winnow::ui
