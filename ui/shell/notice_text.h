// The words of a notice: all of them where there is room, else a few lines that are scrolled by wheel and keys.
//
// Used by notice_bar.h. UI thread only.
#pragma once

#include <QScrollArea>

class QLabel;

namespace winnow::ui {

class NoticeText : public QScrollArea {
  Q_OBJECT
 public:
  explicit NoticeText(QWidget* parent = nullptr);

  void setText(const QString& text, const QString& details);
  QString text() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  QLabel* m_label = nullptr;
};

}  // namespace winnow::ui
