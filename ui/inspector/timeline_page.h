// The panel's page about time: the chart of cache bytes over the turns of the chat, and under it the same as a table.
//
// Used by inspector_panel.h, which says when to refresh. UI thread only.
#pragma once

#include <QScrollArea>
#include <vector>

#include "app/chats/chat/turn_timeline.h"

class QAbstractItemModel;
class QTableView;

namespace winnow::ui {

class TimelineChart;
class TimelineTableModel;

class TimelinePage : public QScrollArea {
  Q_OBJECT
 public:
  explicit TimelinePage(TimelineTableModel& model, QWidget* parent = nullptr);

  void setTurns(std::vector<app::TurnTimeline> turns);
  TimelineChart* chart() const { return m_chart; }
  QTableView* table() const { return m_table; }

 private:
  TimelineTableModel& m_model;
  TimelineChart* m_chart = nullptr;
  QTableView* m_table = nullptr;
};

// A table of figures in the panel's style; Ctrl+C and the context menu copy the selected rows, or all.
QTableView* newFigureTable(QAbstractItemModel* model, const QString& name);

}  // namespace winnow::ui
