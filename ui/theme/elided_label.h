// One line of plain text that gives way instead of pushing its neighbours out or being cut without a sign.
//
// Used where a name of any length stands beside something else. The whole text stays the accessible name. UI thread only.
#pragma once

#include <QLabel>
#include <QPainter>

namespace winnow::ui {

class ElidedLabel : public QLabel {
 public:
  explicit ElidedLabel(Qt::TextElideMode mode, const QString& text = {}) : QLabel(text), m_mode(mode) {
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  }
  QString shownText() const { return fontMetrics().elidedText(text(), m_mode, contentsRect().width()); }
  QSize minimumSizeHint() const override { return QSize(0, QLabel::minimumSizeHint().height()); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setPen(palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, QPalette::WindowText));
    painter.drawText(contentsRect(), alignment() | Qt::TextSingleLine, shownText());
  }

 private:
  Qt::TextElideMode m_mode;
};

}  // namespace winnow::ui
