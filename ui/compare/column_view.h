// One column of a comparison: a header with method and figures, the answer, and the button that makes it the answer of the chat.
//
// Used by comparison_view.h, which keeps headers at one height and the answers scrolled together. The header takes the focus: Enter or a
// double click asks to see this column alone or all again, arrow keys step to its neighbours. UI thread only.
#pragma once

#include <QFrame>

#include "ui/compare/comparison_model.h"

class QLabel;
class QPushButton;
class QToolButton;

namespace winnow::ui {

class TranscriptView;

class ColumnHeader : public QFrame {
  Q_OBJECT
 public:
  explicit ColumnHeader(QWidget* parent = nullptr);

  void describe(const ComparisonModel& model, int column);
  void setAlone(bool alone);      // the column is the only one on screen
  void setCompact(bool compact);  // one line under the title
  QString text() const;           // everything that the header and its tool tip say, line by line
  QToolButton* aloneButton() const { return m_alone; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 Q_SIGNALS:
  void aloneRequested();
  void stepRequested(int step);

 protected:
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void arrange();
  void showAgreement(const QString& text, const app::Run& run);

  bool m_compact = false;
  QLabel* m_title = nullptr;
  QLabel* m_stage = nullptr;
  QLabel* m_figures = nullptr;
  QLabel* m_agreement = nullptr;
  QLabel* m_remark = nullptr;  // what is out of the ordinary
  QStringList m_details;       // for the tool tip
  QToolButton* m_alone = nullptr;
};

class ColumnView : public QWidget {
  Q_OBJECT
 public:
  ColumnView(ComparisonModel& model, int column, QWidget* parent = nullptr);

  ColumnHeader* header() const { return m_header; }
  TranscriptView* transcript() const { return m_transcript; }
  QPushButton* useButton() const { return m_use; }
  void setAlone(bool alone) { m_header->setAlone(alone); }

 Q_SIGNALS:
  void useRequested();

 private:
  void describe();

  ComparisonModel& m_model;
  const int m_column;
  ColumnHeader* m_header = nullptr;
  TranscriptView* m_transcript = nullptr;
  QPushButton* m_use = nullptr;
};

}  // namespace winnow::ui
