// Sizes that the rows of a message, its buttons and its painter agree on, in logical pixels at the present zoom.
//
// Used inside ui/chat_view only. UI thread only.
#pragma once

#include <QFontMetricsF>
#include <QRectF>
#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"

namespace winnow::ui {

inline qreal bubblePadding() { return theme().px(14); }
inline qreal codePadding() { return theme().px(14); }
inline qreal codeHeaderHeight() { return QFontMetricsF(theme().font(TextRole::kCaption)).height() + theme().px(14); }
inline qreal buttonHeight() { return theme().px(28); }
inline qreal sidewaysBarHeight() { return theme().px(12); }
inline qreal thoughtIndent() { return theme().px(16); }  // of its words, beside a bar
inline qreal phaseLineHeight() { return theme().px(30); }
inline qreal comparisonStep() { return theme().px(34); }  // from one entry to the next
// Between the answer's number and its arrows.
inline qreal branchNumberWidth() {
  return std::ceil(QFontMetricsF(theme().font(TextRole::kCaption)).horizontalAdvance(QStringLiteral("00/00")));
}
// The error card: its margin, its sign, and where its words begin.
inline qreal errorPadding() { return theme().px(14); }
inline qreal errorTextLeft() { return theme().px(16 + 20 + 10); }
inline qreal errorTextWidth(qreal cardWidth) { return cardWidth - errorTextLeft() - theme().px(16); }

// Attachments stand beside one another as far as there is room.
class AttachmentGrid {
 public:
  explicit AttachmentGrid(qreal available)
      : m_card(std::min<qreal>(available, theme().px(330))),
        m_perLine(std::max(1, static_cast<int>((available + gap()) / (m_card + gap())))) {}

  QRectF cardRect(int index, const QPointF& origin) const {
    const int line = index / m_perLine;
    return QRectF(origin.x() + index % m_perLine * (m_card + gap()), origin.y() + line * (cardHeight() + gap()), m_card, cardHeight());
  }
  qreal width(int cards) const {
    const int shown = std::min(m_perLine, cards);
    return shown * m_card + (shown - 1) * gap();
  }
  qreal height(int cards) const {
    const int lines = (cards + m_perLine - 1) / m_perLine;
    return lines * cardHeight() + (lines - 1) * gap();
  }

 private:
  static qreal gap() { return theme().px(8); }
  static qreal cardHeight() { return theme().px(64); }

  qreal m_card;
  int m_perLine;
};

}  // namespace winnow::ui
