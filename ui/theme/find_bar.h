// A line in which words are looked for in a text beside it: a box, how many places there are, the one before and the next, close.
//
// Used where a text can be searched (ui/kept_map, ui/chat_view), by Ctrl+F. Asks by signals and shows what it is told; Enter and
// Shift+Enter step, Esc closes it. UI thread only.
#pragma once

#include <QWidget>

class QLabel;
class QLineEdit;

namespace winnow::ui {

class FindBar : public QWidget {
  Q_OBJECT
 public:
  // hint: what can be typed. what: the box's name for people who do not see it.
  FindBar(const QString& hint, const QString& what, QWidget* parent = nullptr);

  void open();                           // asks for what stands in it, whose words are selected
  void close();                          // asks for nothing any more
  void showCount(int index, int count);  // index: from 0
  QLineEdit* box() const { return m_box; }
  QString countText() const;

 Q_SIGNALS:
  void wordsChanged(const QString& words);
  void stepRequested(int by);
  void closed();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QLineEdit* m_box = nullptr;
  QLabel* m_count = nullptr;
};

}  // namespace winnow::ui
