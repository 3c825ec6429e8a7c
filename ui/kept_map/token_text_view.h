// The text of the prompt token by token: what the selected layer keeps as it is, what it dropped struck out and grey.
//
// Custom painted from KeptMapModel for the parts that are text; wraps like a paragraph and scrolls. A document, or all that is said in a
// video, is shown as a whole, its lines numbered or with their times, its tokens shaded by the share of heads that keep them, and the
// chosen part marked at the margin. Merged tokens carry the number of tokens merged in. Left and Right move from token to token. Text is
// shown, never interpreted. UI thread only.
#pragma once

#include <QAbstractScrollArea>
#include <optional>
#include <utility>
#include <vector>

#include "ui/kept_map/token_search.h"

namespace winnow::ui {

class KeptMapModel;

class TokenTextView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TokenTextView(KeptMapModel& model, QWidget* parent = nullptr);

  // The tokens that are shown: the part's tokens, or those of all of its document.
  const std::vector<int>& tokens() const { return m_tokens; }
  // The characters of each of them, safe to look at; a character of several tokens stands with the last of them.
  std::vector<QString> tokenTexts() const;
  QSize minimumSizeHint() const override;

  // Words, or ":12" for a line; shows the first place from the pointed token on. Empty: nothing is looked for any more.
  void find(const QString& words);
  void stepFound(int by);
  int foundCount() const { return static_cast<int>(m_found.size()); }
  int foundIndex() const { return m_foundAt; }

 Q_SIGNALS:
  void foundChanged();
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
  void onSelection();
  void place();
  bool isDocument() const;
  void paintMargin(QPainter& painter, const QRect& seen) const;
  void paintPiece(QPainter& painter, std::size_t index) const;
  void scrollTo(int index);
  void point(int index);
  int pieceAt(const QPointF& point) const;

  KeptMapModel& m_model;
  std::vector<int> m_tokens;
  std::vector<Piece> m_pieces;
  std::optional<std::pair<int, int>> m_shown;  // medium and part (-1: a document) that are laid out
  QString m_wanted;
  std::vector<TokenRange> m_found;  // by place among the pieces
  int m_foundAt = 0;
  qreal m_height = 0;
  int m_cursor = 0;
};

}  // namespace winnow::ui
