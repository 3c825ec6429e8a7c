// The line of the kept-token page in which words are looked for in a text.
//
// Used by kept_map_dialog.h, which shows it at Ctrl+F. Enter and the arrows step through what was found, Esc closes it. UI thread only.
#pragma once

#include <QWidget>

class QLabel;
class QLineEdit;

namespace winnow::ui {

class TokenTextView;

class FindBar : public QWidget {
  Q_OBJECT
 public:
  explicit FindBar(TokenTextView& text, QWidget* parent = nullptr);

  void open();
  void close();
  QLineEdit* box() const { return m_box; }
  QString countText() const;

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void showCount();

  TokenTextView& m_text;
  QLineEdit* m_box = nullptr;
  QLabel* m_count = nullptr;
};

}  // namespace winnow::ui
