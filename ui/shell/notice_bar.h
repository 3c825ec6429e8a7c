// A line in the layout that says what happened and offers one thing to do: undo, details. Never over the control that fixes it.
//
// UI thread only.
#pragma once

#include <QFrame>
#include <QTimer>

#include "engine/base/error.h"

class QLabel;
class QPushButton;
class QToolButton;

namespace winnow::ui {

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  // Goes away by itself after `durationMs`; 0: stays until closed.
  void showMessage(const QString& text, const QString& action, int durationMs);
  void showError(const Error& error);
  void dismiss();
  QString text() const;
  QPushButton* actionButton() const { return m_action; }

 Q_SIGNALS:
  void actionTriggered();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QLabel* m_text = nullptr;
  QPushButton* m_action = nullptr;
  QPushButton* m_details = nullptr;
  QToolButton* m_close = nullptr;
  QTimer m_timer;
  QString m_detailText;
  bool m_error = false;
};

}  // namespace winnow::ui
