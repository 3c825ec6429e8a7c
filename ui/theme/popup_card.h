// A card that opens over the control it belongs to and closes by a click beside it or Esc. It stays on the screen at every size of the text
// and scrolls where the screen has no room for all of it.
//
// Used by ui/composer. Whoever fills it lays its content out and says when it has grown (place). Esc and a click beside it give the focus
// back to what had it. UI thread only.
#pragma once

#include <QFrame>
#include <QPointer>

class QVBoxLayout;

namespace winnow::ui {

class PopupCard : public QFrame {
  Q_OBJECT
 public:
  PopupCard(QWidget& anchor, int widthUnits);

  QVBoxLayout* content() const { return m_content; }
  void open(QWidget& first);  // which gets the focus
  void place();

 protected:
  void hideEvent(QHideEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QWidget& m_anchor;
  int m_widthUnits;
  QVBoxLayout* m_content = nullptr;
  QPointer<QWidget> m_before;  // had the focus when it was opened
};

}  // namespace winnow::ui
