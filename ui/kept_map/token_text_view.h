// The text of the prompt token by token: what the selected layer keeps as it is, what it dropped struck out and grey.
//
// Custom painted from KeptMapModel for the parts that are text; wraps like a paragraph and scrolls. Merged tokens carry the number of
// tokens merged in. Left and Right move from token to token. Text is shown, never interpreted. UI thread only.
#pragma once

#include <QAbstractScrollArea>
#include <vector>

namespace winnow::ui {

class KeptMapModel;

class TokenTextView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TokenTextView(KeptMapModel& model, QWidget* parent = nullptr);

  // The characters of each token of the part, safe to look at; a character of several tokens stands with the last of them.
  std::vector<QString> tokenTexts() const;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void tokenPointed(const QString& description);  // empty: none

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct Piece {
    int token = 0;
    QString text;
    QRectF rect;  // in the content
  };
  void layOut();
  void point(int index);
  int pieceAt(const QPointF& point) const;

  KeptMapModel& m_model;
  std::vector<Piece> m_pieces;
  qreal m_height = 0;
  int m_cursor = 0;
};

}  // namespace winnow::ui
