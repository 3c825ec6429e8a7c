// The live cache panel: what compression keeps, layer by layer, while the answer is written, and the same numbers as a table.
//
// Shown in a dock by ui/shell. Every figure comes from the engine's events by way of CacheMonitor. Refreshes at most ten times a
// second while visible, never while hidden. UI thread only.
#pragma once

#include <QTimer>
#include <QWidget>
#include <vector>

#include "engine/recipes/method_info.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QSortFilterProxyModel;
class QTabWidget;
class QTableView;
class QStackedWidget;

namespace winnow::ui {

class CacheMonitor;
struct CacheFigures;
class KeptBar;
class LayerBars;
class LayerTableModel;
class MemoryBar;
class Sparkline;
class TimelinePage;
class TimelineTableModel;

class InspectorPanel : public QWidget {
  Q_OBJECT
 public:
  explicit InspectorPanel(const CacheMonitor& monitor, std::vector<MethodInfo> methods = {}, QWidget* parent = nullptr);

  int refreshCount() const { return m_refreshes; }
  QTableView* table() const { return m_table; }
  QTabWidget* tabs() const { return m_tabs; }
  TimelinePage* timeline() const { return m_timeline; }
  void copyTable();
  QString whyLine() const;  // what the allocator's numbers mean; empty while there are none
  LayerBars* layerBars() const { return m_layers; }
  QString pinnedLine() const;
  QString notesLine() const;      // empty while hidden
  QString firstWordLine() const;  // what the time to the first word went to; empty while hidden

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void keptMapRequested(qint64 answer);  // 0: of what is on screen
  void lastAnswerRequested();            // while an earlier one is shown

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* buildNow();
  QWidget* buildTable();
  QWidget* buildEmpty();
  void schedule();
  void refresh();
  QString lastAnswerText(const CacheFigures& figures) const;

  const CacheMonitor& m_monitor;
  const std::vector<MethodInfo> m_methods;
  QTimer m_timer;
  bool m_dirty = true;
  int m_refreshes = 0;
  QStackedWidget* m_stack = nullptr;
  QTabWidget* m_tabs = nullptr;
  QLabel* m_phase = nullptr;
  QPushButton* m_toLast = nullptr;
  QLabel* m_ofNew = nullptr;  // the method that the question was asked under, where another one made the cache
  QProgressBar* m_progress = nullptr;
  QLabel* m_bytes = nullptr;
  QLabel* m_bytesDetail = nullptr;
  MemoryBar* m_memory = nullptr;
  QLabel* m_memoryDetail = nullptr;
  QLabel* m_pinned = nullptr;
  QLabel* m_notes = nullptr;
  KeptBar* m_keptVisual = nullptr;
  KeptBar* m_keptText = nullptr;
  QLabel* m_speed = nullptr;
  QLabel* m_speedDetail = nullptr;
  QLabel* m_firstToken = nullptr;
  QLabel* m_firstParts = nullptr;  // of the time to the first word
  Sparkline* m_sparkline = nullptr;
  LayerBars* m_layers = nullptr;
  QLabel* m_notYet = nullptr;
  QList<QWidget*> m_ofReport;    // hidden until there are figures
  QList<QWidget*> m_ofOwnCache;  // of them: hidden while a server answers
  QLabel* m_why = nullptr;
  TimelineTableModel* m_timelineModel = nullptr;
  TimelinePage* m_timeline = nullptr;
  LayerTableModel* m_model = nullptr;
  QSortFilterProxyModel* m_sorted = nullptr;
  QTableView* m_table = nullptr;
};

}  // namespace winnow::ui
