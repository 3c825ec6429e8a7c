// Sizes that the rows of a message, its buttons and its painter agree on, in logical pixels at the present zoom.
//
// Used inside ui/chat_view only. UI thread only.
#pragma once

#include <QFontMetricsF>
#include <QRectF>
#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/chat_view/message_content.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

inline qreal bubblePadding() { return theme().px(14); }
inline qreal codePadding() { return theme().px(14); }
inline qreal codeHeaderHeight() { return QFontMetricsF(theme().font(TextRole::kCaption)).height() + theme().px(14); }
inline qreal buttonHeight() { return theme().px(28); }
inline qreal sidewaysBarHeight() { return theme().px(12); }
inline qreal thoughtIndent() { return theme().px(16); }  // of its words, beside a bar
inline qreal phaseLineHeight() { return theme().px(30); }
inline qreal quoteStep() { return buttonHeight() + theme().px(4); }
inline qreal comparisonStep() { return theme().px(34); }  // from one entry to the next
inline qreal verdictGap() { return theme().px(28); }      // its sign stands in it
// Between the answer's number and its arrows.
inline qreal branchNumberWidth() {
  return std::ceil(QFontMetricsF(theme().font(TextRole::kCaption)).horizontalAdvance(QStringLiteral("00/00")));
}
// The error card: its margin, its sign, and where its words begin.
inline qreal errorPadding() { return theme().px(14); }
inline qreal errorTextLeft() { return theme().px(16 + 20 + 10); }
inline qreal errorTextWidth(qreal cardWidth) { return cardWidth - errorTextLeft() - theme().px(16); }

// Attachments stand beside one another as far as there is room: as cards, or many images as a few of them and how many more there are,
// above the cards of what else there is. Pictures that an answer points at are larger, each in its own proportions.
class AttachmentGrid {
 public:
  AttachmentGrid(qreal available, const std::vector<AttachmentSummary>& attachments)
      : m_places(attachments.size()), m_card(std::min<qreal>(available, theme().px(330))), m_available(available) {
    const auto images = std::ranges::count(attachments, MediaKind::kImage, &AttachmentSummary::kind);
    const bool pointedAt = !attachments.empty() && attachments.front().pointedAt.has_value();
    m_tiles = images >= kManyImages && !pointedAt ? static_cast<int>(images) : 0;
    if (pointedAt) {
      m_card = std::min<qreal>(available, theme().px(attachments.size() == 1 ? 400 : 240));
      m_line = 0;
    }
    for (std::size_t i = 0; pointedAt && i < attachments.size(); ++i) {
      m_places[i].picture = QSizeF(attachments[i].pointedAt->pixels).scaled(m_card, m_card * 3 / 4, Qt::KeepAspectRatio);
      m_line = std::max(m_line, m_places[i].picture.height());
    }
    int tile = 0;
    int card = 0;
    for (std::size_t i = 0; i < attachments.size(); ++i) {
      const bool isTile = m_tiles > 0 && attachments[i].kind == MediaKind::kImage;
      m_places[i].isTile = isTile;
      m_places[i].at = isTile ? tile++ : card++;
    }
    m_cards = card;
  }

  // Empty: it is one of those that are counted only.
  QRectF rect(int index, const QPointF& origin) const {
    const auto& [isTile, at, picture] = m_places[static_cast<std::size_t>(index)];
    if (isTile) return at < shownTiles() ? in(at, tileWidth(), 0).translated(origin) : QRectF();
    QRectF card = in(at, m_card, m_tiles > 0 ? heightOf(shownTiles(), tileWidth()) + gap() : 0).translated(origin);
    if (picture.isValid()) card.setSize(picture);
    return card;
  }
  // How many are behind that one, which stands for them; 0: it stands for itself.
  int standsForMore(int index) const {
    const auto& [isTile, at, picture] = m_places[static_cast<std::size_t>(index)];
    return isTile && m_tiles > kMostTiles && at == kMostTiles - 1 ? m_tiles - at : 0;
  }
  bool isTile(int index) const { return m_places[static_cast<std::size_t>(index)].isTile; }
  qreal width() const { return std::max(widthOf(shownTiles(), tileWidth()), widthOf(m_cards, m_card)); }
  qreal height() const {
    const qreal between = m_tiles > 0 && m_cards > 0 ? gap() : 0;
    return heightOf(shownTiles(), tileWidth()) + between + heightOf(m_cards, m_card);
  }

 private:
  struct Place {
    bool isTile = false;
    int at = 0;      // among the tiles or the cards
    QSizeF picture;  // of one that is pointed at
  };
  static constexpr int kManyImages = 5;  // as in the box
  static constexpr int kMostTiles = 6;   // the last one says how many more there are

  static qreal gap() { return theme().px(8); }
  static qreal tileWidth() { return theme().px(78); }  // six in a chat of a window of 1,280 pixels
  int shownTiles() const { return std::min(m_tiles, kMostTiles); }
  int perLine(qreal width) const { return std::max(1, static_cast<int>((m_available + gap()) / (width + gap()))); }
  QRectF in(int at, qreal width, qreal top) const {
    const int line = at / perLine(width);
    return QRectF(at % perLine(width) * (width + gap()), top + line * (m_line + gap()), width, m_line);
  }
  qreal widthOf(int count, qreal width) const {
    const int shown = std::min(perLine(width), count);
    return shown > 0 ? shown * (width + gap()) - gap() : 0;
  }
  qreal heightOf(int count, qreal width) const {
    const int lines = (count + perLine(width) - 1) / perLine(width);
    return lines > 0 ? lines * (m_line + gap()) - gap() : 0;
  }

  std::vector<Place> m_places;
  qreal m_card;
  qreal m_available;
  qreal m_line = theme().px(64);
  int m_tiles = 0;
  int m_cards = 0;
};

}  // namespace winnow::ui
