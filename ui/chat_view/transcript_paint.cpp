// How the rows of a message look; the rest of TranscriptView is in transcript_view.cpp.
#include <QPaintEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "ui/chat_view/message_note.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/words/display_text.h"
#include "ui/words/error_text.h"

namespace winnow::ui {
namespace {

void fillRounded(QPainter& painter, const QRectF& rect, qreal radius, const QColor& fill, const QColor& line = QColor()) {
  painter.setBrush(fill.isValid() ? QBrush(fill) : QBrush(Qt::NoBrush));
  painter.setPen(line.isValid() ? QPen(line, 1) : QPen(Qt::NoPen));
  painter.drawRoundedRect(line.isValid() ? rect.adjusted(0.5, 0.5, -0.5, -0.5) : rect, radius, radius);
}

Glyph glyphOf(Action action) {
  switch (action) {
    case Action::kEdit:
      return Glyph::kPencil;
    case Action::kRegenerate:
      return Glyph::kRefresh;
    case Action::kKeptMap:
      return Glyph::kGrid;
    case Action::kStop:
      return Glyph::kStop;
    case Action::kPreviousBranch:
      return Glyph::kChevronLeft;
    case Action::kNextBranch:
      return Glyph::kChevronRight;
    case Action::kCheck:
      return Glyph::kDiffers;
    case Action::kComparison:
      return Glyph::kColumns;
    default:
      return Glyph::kCopy;
  }
}

}  // namespace

void TranscriptView::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  painter.fillRect(event->rect(), theme().colors().window);
  painter.setRenderHint(QPainter::Antialiasing);
  const qreal top = verticalScrollBar()->value();
  const QRectF clip = QRectF(event->rect()).translated(-columnLeft(), top);
  for (int i = std::max(0, messageAtY(clip.top())); i < messageCount() && m_tops[static_cast<std::size_t>(i)] <= clip.bottom(); ++i) {
    painter.save();
    painter.translate(columnLeft(), m_tops[static_cast<std::size_t>(i)] + contentTop());
    paintMessage(painter, i, clip.translated(0, -m_tops[static_cast<std::size_t>(i)]));
    painter.restore();
  }
}

void TranscriptView::paintMessage(QPainter& painter, int index, const QRectF& clip) {
  const MessageRows& message = *m_messages[static_cast<std::size_t>(index)];
  const Colors& c = theme().colors();
  const QRectF bubble = message.bubble();
  if (!bubble.isEmpty()) fillRounded(painter, bubble, theme().px(14), c.userBubble);
  if (hasFocus() && index == m_focusIndex) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(c.accent, 1.5));
    painter.drawRoundedRect(QRectF(-theme().px(10), -theme().px(8), columnWidth() + theme().px(20), message.height() + theme().px(16)),
                            theme().px(12), theme().px(12));
  }
  for (std::size_t r = 0; r < message.rows().size(); ++r) {
    const Row& row = message.rows()[r];
    if (row.top > clip.bottom() || row.top + row.height < clip.top()) continue;
    paintRow(painter, message, index, r, clip);
  }
  const bool hovered = m_hover.message == index || (hasFocus() && m_focusIndex == index);
  for (const ActionArea& area : message.actions(hovered)) {
    if (area.action == Action::kAttachment) continue;
    const bool over = m_hover.message == index && m_hover.area.action == area.action && m_hover.area.index == area.index;
    paintAction(painter, area, over, message);
  }
}

void TranscriptView::paintRow(QPainter& painter, const MessageRows& message, int index, std::size_t r, const QRectF& clip) {
  const Row& row = message.rows()[r];
  const MessageContent& content = message.content();
  const Colors& c = theme().colors();
  const QRectF rect = message.rowRect(row);
  switch (row.kind) {
    case RowKind::kRole: {
      const qreal mark = theme().px(20);
      applicationIcon().paint(&painter, QRectF(rect.left(), rect.center().y() - mark / 2, mark, mark).toRect());
      painter.setFont(theme().font(TextRole::kStrong));
      painter.setPen(c.text);
      painter.drawText(rect.adjusted(mark + theme().px(8), 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                       content.roleLabel);
      break;
    }
    case RowKind::kAttachments: {
      for (const ActionArea& area : message.actions(false)) {
        if (area.action != Action::kAttachment) continue;
        const AttachmentSummary& attachment = content.attachments[static_cast<std::size_t>(area.index)];
        const bool over = m_hover.message == index && m_hover.area.action == Action::kAttachment && m_hover.area.index == area.index;
        fillRounded(painter, area.rect, theme().cornerRadius(), over ? c.hover : c.surface, c.border);
        const qreal pad = theme().px(8);
        const QRectF thumb(area.rect.left() + pad, area.rect.top() + pad, theme().px(72), area.rect.height() - 2 * pad);
        painter.save();
        QPainterPath path;
        path.addRoundedRect(thumb, theme().smallRadius(), theme().smallRadius());
        painter.setClipPath(path, Qt::IntersectClip);
        painter.fillRect(thumb, c.raised);
        if (!attachment.thumbnail.isNull()) {
          const QSizeF size = QSizeF(attachment.thumbnail.size()).scaled(thumb.size(), Qt::KeepAspectRatioByExpanding);
          painter.setRenderHint(QPainter::SmoothPixmapTransform);
          painter.drawImage(QRectF(thumb.center() - QPointF(size.width() / 2, size.height() / 2), size), attachment.thumbnail);
        } else {
          const qreal g = theme().px(24);
          paintGlyph(painter, attachment.video ? Glyph::kFilm : Glyph::kImage, QRectF(thumb.center() - QPointF(g / 2, g / 2), QSizeF(g, g)),
                     c.mutedText);
        }
        painter.restore();
        const QRectF text = area.rect.adjusted(thumb.width() + 2 * pad + theme().px(2), pad, -pad, -pad);
        painter.setFont(theme().font(TextRole::kStrong));
        painter.setPen(c.text);
        const QFontMetricsF strong(theme().font(TextRole::kStrong));
        painter.drawText(QRectF(text.left(), text.top(), text.width(), text.height() / 2), Qt::AlignLeft | Qt::AlignBottom,
                         strong.elidedText(attachment.title, Qt::ElideMiddle, text.width()));
        const QFontMetricsF caption(theme().font(TextRole::kCaption));
        painter.setFont(theme().font(TextRole::kCaption));
        painter.setPen(c.mutedText);
        painter.drawText(QRectF(text.left(), text.center().y() + theme().px(1), text.width(), text.height() / 2),
                         Qt::AlignLeft | Qt::AlignTop, caption.elidedText(attachment.detail, Qt::ElideRight, text.width()));
      }
      break;
    }
    case RowKind::kText: {
      if (message.isCode(row)) {
        const SourceBlock& block = message.splitter().blocks()[row.block];
        fillRounded(painter, rect, theme().cornerRadius(), c.code, c.border);
        if (!block.continues) {
          painter.setFont(theme().font(TextRole::kCaption));
          painter.setPen(c.mutedText);
          painter.drawText(QRectF(rect.left() + theme().px(14), rect.top(), rect.width() / 2, message.textRect(row).top() - rect.top()),
                           Qt::AlignVCenter | Qt::AlignLeft, block.language.isEmpty() ? tr("code") : displayText(block.language));
        }
      }
      if (!row.document) break;
      const QRectF text = message.textRect(row);
      int from = 0, to = 0;
      if (hasSelection()) {
        const auto [first, last] = orderedSelection();
        const TextPosition start{index, static_cast<int>(r), 0}, end{index, static_cast<int>(r), row.document->length()};
        if (first < end && last > start) {
          from = first > start ? first.position : 0;
          to = last < end ? last.position : row.document->length();
        }
      }
      painter.save();
      painter.translate(text.topLeft());
      row.document->paint(painter, clip.translated(-text.topLeft()), from, to);
      if (hasFocus() && m_mark >= 0 && m_markMessage == content.id) {
        const auto [first, last] = message.marksOf(row);
        const std::size_t mark = static_cast<std::size_t>(m_mark);
        if (mark >= first && mark < last) {
          painter.setBrush(Qt::NoBrush);
          painter.setPen(QPen(c.accent, 1.6));
          painter.drawRoundedRect(row.document->markRect(static_cast<int>(mark - first)).adjusted(-2, -1, 2, 1), theme().smallRadius() / 2,
                                  theme().smallRadius() / 2);
        }
      }
      painter.restore();
      break;
    }
    case RowKind::kPhase: {
      painter.setFont(theme().font(TextRole::kBody));
      painter.setPen(c.mutedText);
      const qreal line = theme().px(30);
      // Three dots that take turns: something is going on, even while the share is unknown.
      qreal x = rect.left();
      for (int dot = 0; dot < 3; ++dot) {
        QColor color = c.accent;
        color.setAlpha(m_animationStep / 3 % 3 == dot ? 255 : 90);
        painter.setBrush(color);
        painter.setPen(Qt::NoPen);
        painter.drawEllipse(QPointF(x + theme().px(3), rect.top() + line / 2), theme().px(3), theme().px(3));
        x += theme().px(10);
      }
      painter.setPen(c.mutedText);
      const QFontMetricsF metrics(theme().font(TextRole::kBody));
      const qreal width = rect.right() - x - theme().px(110);
      painter.drawText(QRectF(x + theme().px(6), rect.top(), width, line), Qt::AlignVCenter | Qt::AlignLeft,
                       metrics.elidedText(content.phase, Qt::ElideRight, width));
      const QRectF track(rect.left(), rect.top() + line + theme().px(5), rect.width(), theme().px(4));
      if (content.phaseShare >= 0) {
        fillRounded(painter, track, track.height() / 2, c.chartTrack);
        QRectF filled = track;
        filled.setWidth(std::max(track.height(), track.width() * std::min(1.0, content.phaseShare)));
        fillRounded(painter, filled, track.height() / 2, c.accent);
      }
      break;
    }
    case RowKind::kError: {
      const ErrorText text = describeError(*content.error);
      fillRounded(painter, rect, theme().cornerRadius(), c.dangerSoft, c.border);
      const qreal icon = theme().px(20);
      paintGlyph(painter, Glyph::kWarning, QRectF(rect.left() + theme().px(16), rect.top() + theme().px(14), icon, icon), c.danger);
      const qreal left = rect.left() + theme().px(16 + 20 + 10);
      const qreal inner = rect.right() - theme().px(16) - left;
      qreal y = rect.top() + theme().px(14);
      const auto paragraph = [&](TextRole role, const QColor& color, const QString& words, int flags) {
        const QFont font = theme().font(role);
        const QRectF box = QFontMetricsF(font).boundingRect(QRectF(0, 0, inner, 100000), flags, words);
        painter.setFont(font);
        painter.setPen(color);
        painter.drawText(QRectF(left, y, inner, box.height() + 2), flags, words);
        y += box.height();
      };
      paragraph(TextRole::kStrong, c.text, text.cause, Qt::TextWordWrap);
      y += theme().px(4);
      paragraph(TextRole::kBody, c.text, text.remedy, Qt::TextWordWrap);
      if (message.errorDetailsShown()) {
        y += theme().px(8);
        paragraph(TextRole::kCaption, c.mutedText, text.details, Qt::TextWrapAnywhere | Qt::TextWordWrap);
      }
      break;
    }
    case RowKind::kNote:
      painter.setFont(theme().font(TextRole::kCaption));
      painter.setPen(c.mutedText);
      painter.drawText(rect, Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap, noteOf(content));
      break;
    case RowKind::kFooter: {
      const std::vector<QString> texts = message.metricTexts();
      const auto rects = message.flow(texts, rect.topLeft(), rect.width(), theme().font(TextRole::kCaption));
      painter.setFont(theme().font(TextRole::kCaption));
      for (std::size_t i = 0; i < texts.size(); ++i) {
        fillRounded(painter, rects[i], rects[i].height() / 2, c.raised);
        painter.setPen(c.mutedText);
        painter.drawText(rects[i], Qt::AlignCenter | Qt::TextSingleLine, texts[i]);
      }
      if (content.branchCount > 1) {
        for (const ActionArea& area : message.actions(false)) {
          // The number stands right of the first arrow, left of the second; at either end one of them is missing.
          if (area.action != Action::kPreviousBranch && area.action != Action::kNextBranch) continue;
          const qreal width = std::ceil(QFontMetricsF(painter.font()).horizontalAdvance(QStringLiteral("00/00")));
          const qreal left = area.action == Action::kPreviousBranch ? area.rect.right() : area.rect.left() - width;
          painter.setPen(c.mutedText);
          painter.drawText(QRectF(left, area.rect.top(), width, area.rect.height()), Qt::AlignCenter,
                           tr("%1/%2").arg(content.branch + 1).arg(content.branchCount));
          break;
        }
      }
      break;
    }
    case RowKind::kComparisons:
      break;  // actions only
  }
}

void TranscriptView::paintAction(QPainter& painter, const ActionArea& area, bool hovered, const MessageRows&) const {
  const Colors& c = theme().colors();
  const bool outlined = area.action == Action::kRetry || area.action == Action::kErrorDetails || area.action == Action::kErrorCopy ||
                        area.action == Action::kStop || area.action == Action::kComparison || area.action == Action::kLonger;
  if (outlined) {
    fillRounded(painter, area.rect, theme().smallRadius() + 2, hovered ? c.hover : c.surface, c.border);
  } else if (hovered) {
    fillRounded(painter, area.rect, theme().smallRadius(), c.hover);
  }
  const QColor color = hovered || outlined ? c.text : c.mutedText;
  const qreal glyph = theme().px(16);
  if (isIconOnly(area.action)) {
    paintGlyph(painter, glyphOf(area.action), QRectF(area.rect.center() - QPointF(glyph / 2, glyph / 2), QSizeF(glyph, glyph)), color);
    return;
  }
  painter.setFont(theme().font(TextRole::kCaption));
  painter.setPen(color);
  if (area.action == Action::kCopyCode || area.action == Action::kStop || area.action == Action::kComparison) {
    const QRectF mark(area.rect.left() + theme().px(8), area.rect.center().y() - glyph / 2, glyph, glyph);
    paintGlyph(painter, glyphOf(area.action), mark, color);
    const QRectF room = area.rect.adjusted(theme().px(8) + glyph, 0, 0, 0);
    painter.drawText(room, Qt::AlignCenter, QFontMetricsF(painter.font()).elidedText(area.label, Qt::ElideRight, room.width()));
  } else {
    painter.drawText(area.rect, Qt::AlignCenter, QFontMetricsF(painter.font()).elidedText(area.label, Qt::ElideRight, area.rect.width()));
  }
}

}  // namespace winnow::ui
