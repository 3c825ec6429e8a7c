// A comparison on screen: the question and what all columns share on top, the columns side by side below.
//
// Used by ui/shell in place of the transcript. Shows any ComparisonModel, running or ended; says by signals what the user wants. The
// columns scroll together; where there is no room for all, they scroll sideways. UI thread only.
#pragma once

#include <QTimer>
#include <QWidget>
#include <memory>
#include <vector>

#include "ui/compare/comparison_model.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QSplitter;
class QToolButton;

namespace winnow::ui {

class ColumnView;

class ComparisonView : public QWidget {
  Q_OBJECT
 public:
  explicit ComparisonView(QWidget* parent = nullptr);
  ~ComparisonView() override;

  // question, media: one line each for the bar; media may be empty.
  void setModel(std::shared_ptr<ComparisonModel> model, const QString& question, const QString& media);
  ComparisonModel* model() const { return m_model.get(); }
  const std::vector<ColumnView*>& columns() const { return m_columns; }
  int alone() const { return m_alone; }  // the only column on screen; -1: all are
  void showAlone(int column);            // the same again, or -1: all
  QString sharedText() const;            // what the bar says of what the columns share, once they have ended in its tool tip
  QString verdictText() const;           // empty while it is not known
  QString failureText() const;
  // The figures and answers as lines of tab-separated values, with a line of titles.
  QString table() const;
  QToolButton* copyButton() const { return m_copy; }
  QToolButton* mapsButton() const { return m_maps; }
  QPushButton* cancelButton() const { return m_cancel; }
  QPushButton* findButton() const { return m_find; }

 Q_SIGNALS:
  void backRequested();
  void stopRequested();
  void cancelRequested();
  void useRequested(int column);
  void mapsRequested();      // what each column kept
  void findFileRequested();  // that it failed for
  void columnFocused(int column);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void describe();
  void alignHeaders();
  bool low() const;  // hardly any height: the columns come first
  void scrollTogether(const ColumnView* source, int value);

  std::shared_ptr<ComparisonModel> m_model;
  std::vector<ColumnView*> m_columns;
  int m_alone = -1;
  bool m_scrolling = false;
  bool m_growing = false;  // an answer changes, nobody scrolls
  QTimer m_alignTimer;
  QToolButton* m_back = nullptr;
  QLabel* m_title = nullptr;
  QLabel* m_question = nullptr;
  QLabel* m_shared = nullptr;
  QLabel* m_verdict = nullptr;
  QLabel* m_failure = nullptr;
  QPushButton* m_find = nullptr;
  QProgressBar* m_progress = nullptr;
  QToolButton* m_copy = nullptr;
  QToolButton* m_maps = nullptr;
  QPushButton* m_stop = nullptr;
  QPushButton* m_cancel = nullptr;
  QScrollArea* m_scroll = nullptr;
  QSplitter* m_splitter = nullptr;
};

}  // namespace winnow::ui
