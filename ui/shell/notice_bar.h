// A line in the layout that says what happened and offers what can be done: undo, details, ways out. Never over the control that fixes it.
//
// UI thread only.
#pragma once

#include <QFrame>
#include <QTimer>
#include <functional>
#include <vector>

#include "ui/words/error_text.h"

class QBoxLayout;
class QGridLayout;
class QPushButton;
class QToolButton;

namespace winnow::ui {

class NoticeText;

struct NoticeAction {
  QString label;
  std::function<void()> run;  // the notice is gone by then
};

struct Notice {
  QString text;
  std::vector<NoticeAction> actions;
  QString details;  // can be copied; empty: none
  bool error = false;
  bool closable = true;
  int durationMs = 0;  // goes away by itself; 0: stays
};

// What went wrong and what to do, with details to copy.
Notice noticeOf(const ErrorText& text);
Notice noticeOf(const Error& error);

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  void present(const Notice& notice);
  // Goes away by itself after `durationMs`; 0: stays until closed. Its action is told by actionTriggered.
  void showMessage(const QString& text, const QString& action, int durationMs);
  void showError(const Error& error);
  void dismiss();
  void setText(const QString& text);  // of what is shown, which stays as it is otherwise
  QString text() const;
  QString details() const { return m_detailText; }
  // By its label; null: there is none.
  QPushButton* button(const QString& label) const;

 Q_SIGNALS:
  void actionTriggered();
  void changed();  // it has come, says something else, or is gone
  void closed();   // by the user

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void addButton(const QString& label, std::function<void()> clicked);
  void arrange();

  QGridLayout* m_grid = nullptr;
  NoticeText* m_text = nullptr;
  QWidget* m_buttonRow = nullptr;
  QBoxLayout* m_buttons = nullptr;
  QToolButton* m_close = nullptr;
  QTimer m_timer;
  QString m_detailText;
  bool m_error = false;
};

}  // namespace winnow::ui
