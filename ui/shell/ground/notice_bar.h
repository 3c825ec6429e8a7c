// A line in the layout that says what happened and offers what can be done: undo, details, ways out. Never over the control that fixes it.
//
// notices.h has the rows that the window shows in such bars. UI thread only.
#pragma once

#include <QFrame>
#include <QTimer>
#include <functional>
#include <vector>

#include "app/words/error_text.h"

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

// The events that end a notice beside the user, by NoticeBar::end().
enum class NoticeAbout : int {
  kProgram = 1,      // nothing
  kChat = 2,         // another chat is shown
  kModel = 3,        // a model is loaded
  kUnseen = 4,       // the model can look at everything, or nothing is left to look at
  kUnsaved = 5,      // something is saved again
  kUnsavedTurn = 6,  // a question or an answer is
};

struct Notice {
  QString text{};  // empty: there is nothing to say
  std::vector<NoticeAction> actions{};
  QString details{};  // can be copied; empty: none
  bool error = false;
  bool closable = true;
  int durationMs = 0;  // goes away by itself; 0: stays
  NoticeAbout about = NoticeAbout::kProgram;
};

// A fault's cause and what to do, with details to copy.
Notice noticeOf(const app::ErrorText& text);
Notice noticeOf(const Error& error, NoticeAbout about = NoticeAbout::kProgram);

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(const QString& name, QWidget* parent = nullptr);

  // In the place of what is shown. Buttons with the same labels stay: one may have the keyboard.
  void present(const Notice& notice);
  void dismiss();
  void end(NoticeAbout about);  // dismisses a notice about that, and no other
  bool shows(NoticeAbout about) const { return !isHidden() && m_notice.about == about; }
  QString text() const { return isHidden() ? QString() : m_notice.text; }
  QString details() const { return m_notice.details; }
  // By its label; null: there is none.
  QPushButton* button(const QString& label) const;

 Q_SIGNALS:
  void changed();  // it has come, says something else, or is gone
  void closed();   // by the user

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeButtons();
  void addButton(const QString& label, std::function<void()> clicked);
  void arrange();

  Notice m_notice;
  QGridLayout* m_grid = nullptr;
  NoticeText* m_text = nullptr;
  QWidget* m_buttonRow = nullptr;
  QBoxLayout* m_buttons = nullptr;
  QToolButton* m_close = nullptr;
  QTimer m_timer;
};

}  // namespace winnow::ui
