#include "ui/chat_view/transcript_painter.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "ui/chat_view/answer_figures.h"
#include "ui/chat_view/message_geometry.h"
#include "ui/chat_view/message_note.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

class PaintedWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::PaintedWords)
};

void fillRounded(QPainter& painter, const QRectF& rect, qreal radius, const QColor& fill, const QColor& line = QColor()) {
  painter.setBrush(fill.isValid() ? QBrush(fill) : QBrush(Qt::NoBrush));
  painter.setPen(line.isValid() ? QPen(line, 1) : QPen(Qt::NoPen));
  painter.drawRoundedRect(line.isValid() ? rect.adjusted(0.5, 0.5, -0.5, -0.5) : rect, radius, radius);
}

Glyph glyphOf(const ActionArea& area) {
  switch (area.action) {
    case Action::kThought: return area.index != 0 ? Glyph::kChevronDown : Glyph::kChevronRight;
    case Action::kEdit: return Glyph::kPencil;
    case Action::kRegenerate: return Glyph::kRefresh;
    case Action::kKeptMap: return Glyph::kGrid;
    case Action::kStop: return Glyph::kStop;
    case Action::kPreviousBranch: return Glyph::kChevronLeft;
    case Action::kNextBranch: return Glyph::kChevronRight;
    case Action::kCheck: return Glyph::kDiffers;
    case Action::kComparison: return Glyph::kColumns;
    case Action::kCite:
    case Action::kQuote: return Glyph::kDocument;
    default: return Glyph::kCopy;
  }
}

bool isOutlined(Action action) {
  return action == Action::kRetry || action == Action::kErrorDetails || action == Action::kErrorCopy || action == Action::kStop ||
         action == Action::kComparison || action == Action::kQuote || action == Action::kContinue || action == Action::kReadAgain ||
         action == Action::kReadAll || action == Action::kFindFile || action == Action::kAnswerNow || action == Action::kNewChat ||
         action == Action::kAnswerAlone;
}

}  // namespace

TranscriptPainter::TranscriptPainter(QPainter& painter, const TranscriptLayout& layout, const TranscriptLook& look)
    : m_painter(painter), m_layout(layout), m_look(look) {}

void TranscriptPainter::paint(const QRectF& clip) {
  for (int i = std::max(0, m_layout.messageAt(clip.top())); i < m_layout.count() && m_layout.top(i) <= clip.bottom(); ++i) {
    m_painter.save();
    m_painter.translate(0, m_layout.top(i));
    paintMessage(i, clip.translated(0, -m_layout.top(i)));
    m_painter.restore();
  }
}

bool TranscriptPainter::hovers(int message, const ActionArea& area) const {
  return m_look.hover.message == message && m_look.hover.area.action == area.action && m_look.hover.area.index == area.index;
}

// From here on everything is relative to the message.
void TranscriptPainter::paintMessage(int index, const QRectF& clip) {
  const MessageRows& message = m_layout.at(index);
  const Colors& c = theme().colors();
  const bool focused = m_look.focused && index == m_look.focusedMessage;
  if (const QRectF bubble = message.bubble(); !bubble.isEmpty()) fillRounded(m_painter, bubble, theme().px(14), c.userBubble);
  if (focused) {
    m_painter.setBrush(Qt::NoBrush);
    m_painter.setPen(QPen(c.accent, 1.5));
    m_painter.drawRoundedRect(QRectF(-theme().px(10), -theme().px(8), m_layout.width() + theme().px(20), message.height() + theme().px(16)),
                              theme().px(12), theme().px(12));
  }
  for (std::size_t r = 0; r < message.rows().size(); ++r) {
    const Row& row = message.rows()[r];
    if (row.top <= clip.bottom() && row.top + row.height >= clip.top()) paintRow(index, r, clip);
  }
  const bool lastAnswer = index == m_layout.count() - 1 && message.content().speaker == Speaker::kAssistant;
  const bool lookedAt = m_look.hover.message == index || focused || lastAnswer;
  for (const ActionArea& area : actionsOf(message, lookedAt)) {
    if (area.action == Action::kSideways) {
      paintSideways(message, area, hovers(index, area));
    } else if (area.action == Action::kFigures) {
      paintFigures(message.content(), area, hovers(index, area));
    } else if (area.action != Action::kAttachment) {
      paintAction(area, hovers(index, area));
    }
  }
}

void TranscriptPainter::paintRow(int index, std::size_t r, const QRectF& clip) {
  const MessageRows& message = m_layout.at(index);
  const Row& row = message.rows()[r];
  const QRectF rect = message.rowRect(row);
  switch (row.kind) {
    case RowKind::kRole: paintRole(message.content(), rect); break;
    case RowKind::kAttachments: paintAttachments(index, rect); break;
    case RowKind::kThoughtText:
      paintThoughtBar(rect);
      if (row.document) paintText(index, r, clip);
      break;
    case RowKind::kThoughtTail:
      paintThoughtBar(rect);
      paintTail(lastThought(message.content()), message.textRect(row));
      break;
    case RowKind::kText:
      if (message.isCode(row)) paintCodeGround(message, row, rect);
      if (row.document) paintText(index, r, clip);
      break;
    case RowKind::kPhase: paintPhase(message.content(), rect); break;
    case RowKind::kError: paintError(message, rect); break;
    case RowKind::kNote: paintNote(message.content(), rect); break;
    case RowKind::kFooter: paintFooter(message); break;
    case RowKind::kThought:
    case RowKind::kQuotes:
    case RowKind::kComparisons: break;  // actions only
  }
}

void TranscriptPainter::paintRole(const MessageContent& content, const QRectF& rect) {
  const qreal mark = theme().px(20);
  applicationIcon().paint(&m_painter, QRectF(rect.left(), rect.center().y() - mark / 2, mark, mark).toRect());
  m_painter.setFont(theme().font(TextRole::kStrong));
  m_painter.setPen(theme().colors().text);
  m_painter.drawText(rect.adjusted(mark + theme().px(8), 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                     content.roleLabel);
}

void TranscriptPainter::paintAttachments(int index, const QRectF& rect) {
  const MessageRows& message = m_layout.at(index);
  const std::vector<AttachmentSummary>& attachments = message.content().attachments;
  const AttachmentGrid grid(message.innerWidth(), attachments);
  for (int i = 0; i < static_cast<int>(attachments.size()); ++i) {
    ActionArea area;
    area.action = Action::kAttachment;
    area.index = i;
    const QRectF card = grid.rect(i, rect.topLeft());
    if (card.isEmpty()) continue;
    const std::optional<PointedAt>& pointedAt = attachments[static_cast<std::size_t>(i)].pointedAt;
    if (grid.isTile(i) || pointedAt) {
      paintTile(attachments[static_cast<std::size_t>(i)], card, hovers(index, area), grid.standsForMore(i));
      if (pointedAt) paintBoxes(m_painter, card, pointedAt->boxes);
    } else {
      paintAttachment(attachments[static_cast<std::size_t>(i)], card, hovers(index, area));
    }
    if (const auto openable = openableOf(message); openable && openable->attachment == i) paintRing(card, theme().cornerRadius());
  }
}

// more: how many images it stands for; 0: for itself.
void TranscriptPainter::paintTile(const AttachmentSummary& image, const QRectF& tile, bool hovered, int more) {
  const Colors& c = theme().colors();
  if (more == 0) {
    paintThumbnail(image, tile);
  } else {
    fillRounded(m_painter, tile, theme().smallRadius(), c.surface, QColor());
    m_painter.setFont(theme().font(TextRole::kStrong));
    m_painter.setPen(c.text);
    m_painter.drawText(tile, Qt::AlignCenter, QStringLiteral("+%1").arg(more));
  }
  fillRounded(m_painter, tile, theme().smallRadius(), QColor(), hovered ? c.accent : c.border);
}

void TranscriptPainter::paintThumbnail(const AttachmentSummary& attachment, const QRectF& thumb) {
  const Colors& c = theme().colors();
  m_painter.save();
  QPainterPath path;
  path.addRoundedRect(thumb, theme().smallRadius(), theme().smallRadius());
  m_painter.setClipPath(path, Qt::IntersectClip);
  m_painter.fillRect(thumb, c.raised);
  if (!attachment.thumbnail.isNull()) {
    const QSizeF size = QSizeF(attachment.thumbnail.size()).scaled(thumb.size(), Qt::KeepAspectRatioByExpanding);
    m_painter.setRenderHint(QPainter::SmoothPixmapTransform);
    m_painter.drawImage(QRectF(thumb.center() - QPointF(size.width() / 2, size.height() / 2), size), attachment.thumbnail);
  } else {
    const qreal g = theme().px(24);
    const Glyph glyph = attachment.kind == MediaKind::kVideo      ? Glyph::kFilm
                        : attachment.kind == MediaKind::kDocument ? Glyph::kDocument
                                                                  : Glyph::kImage;
    paintGlyph(m_painter, glyph, QRectF(thumb.center() - QPointF(g / 2, g / 2), QSizeF(g, g)), c.mutedText);
  }
  m_painter.restore();
}

void TranscriptPainter::paintAttachment(const AttachmentSummary& attachment, const QRectF& card, bool hovered) {
  const Colors& c = theme().colors();
  fillRounded(m_painter, card, theme().cornerRadius(), hovered ? c.hover : c.surface, c.border);
  const qreal pad = theme().px(8);
  const QRectF thumb(card.left() + pad, card.top() + pad, theme().px(72), card.height() - 2 * pad);
  paintThumbnail(attachment, thumb);
  const QRectF text = card.adjusted(thumb.width() + 2 * pad + theme().px(2), pad, -pad, -pad);
  const auto line = [&](TextRole role, const QColor& color, const QRectF& room, Qt::Alignment alignment, const QString& words,
                        Qt::TextElideMode elide) {
    const QFont font = theme().font(role);
    m_painter.setFont(font);
    m_painter.setPen(color);
    m_painter.drawText(room, Qt::AlignLeft | alignment, QFontMetricsF(font).elidedText(words, elide, room.width()));
  };
  line(TextRole::kStrong, c.text, QRectF(text.left(), text.top(), text.width(), text.height() / 2), Qt::AlignBottom, attachment.title,
       Qt::ElideMiddle);
  line(TextRole::kCaption, c.mutedText, QRectF(text.left(), text.center().y() + theme().px(1), text.width(), text.height() / 2),
       Qt::AlignTop, attachment.detail, Qt::ElideRight);
}

void TranscriptPainter::paintSideways(const MessageRows& message, const ActionArea& area, bool hovered) {
  const Row& row = message.rows()[static_cast<std::size_t>(area.index)];
  const Colors& c = theme().colors();
  const qreal high = theme().px(5);
  const QRectF track(area.rect.left(), area.rect.bottom() - high, area.rect.width(), high);
  fillRounded(m_painter, track, high / 2, c.chartTrack);
  const qreal whole = track.width() + row.overflow;
  const QRectF thumb(track.left() + track.width() * row.sideways / whole, track.top(), track.width() * track.width() / whole, high);
  fillRounded(m_painter, thumb, high / 2, hovered ? c.text : c.mutedText);
}

void TranscriptPainter::paintThoughtBar(const QRectF& rect) {
  m_painter.fillRect(QRectF(rect.left() + theme().px(2), rect.top(), theme().px(3), rect.height()), theme().colors().border);
}

// Its newest words are seen.
void TranscriptPainter::paintTail(const QString& line, const QRectF& rect) {
  const QFont font = theme().font(TextRole::kCaption);
  m_painter.setFont(font);
  m_painter.setPen(theme().colors().mutedText);
  m_painter.drawText(rect, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                     QFontMetricsF(font).elidedText(app::displayText(line), Qt::ElideLeft, rect.width()));
}

void TranscriptPainter::paintCodeGround(const MessageRows& message, const Row& row, const QRectF& rect) {
  const Colors& c = theme().colors();
  const SourceBlock& block = message.splitter().blocks()[row.block];
  fillRounded(m_painter, rect, theme().cornerRadius(), c.code, c.border);
  if (block.continues) return;
  m_painter.setFont(theme().font(TextRole::kCaption));
  m_painter.setPen(c.mutedText);
  m_painter.drawText(QRectF(rect.left() + codePadding(), rect.top(), rect.width() / 2, codeHeaderHeight()),
                     Qt::AlignVCenter | Qt::AlignLeft, listingTitle(block.language));
}

// The tints of what was found, of the reader's place among it, and of what is selected.
TranscriptPainter::Tints TranscriptPainter::tintsOf(int index, std::size_t r) const {
  const Colors& c = theme().colors();
  const int number = static_cast<int>(r);
  Tints tints;
  for (const TranscriptFind::Range& range : m_look.find.within(index, number))
    tints.push_back({range.from.position, range.to, c.warningSoft, c.text});
  if (const auto present = m_look.find.present(); present && present->from.message == index && present->from.row == number)
    tints.push_back({present->from.position, present->to, c.accent, c.onAccent});
  const auto [from, to] = m_look.selection.within(index, number, m_layout.at(index).rows()[r].document->length());
  if (from < to) tints.push_back({from, to, c.selection});
  return tints;
}

std::optional<Openable> TranscriptPainter::openableOf(const MessageRows& message) const {
  return m_look.focused && m_look.openables.message() == message.content().id ? m_look.openables.present() : std::nullopt;
}

void TranscriptPainter::paintRing(const QRectF& rect, qreal radius) {
  m_painter.setBrush(Qt::NoBrush);
  m_painter.setPen(QPen(theme().colors().accent, 1.6));
  m_painter.drawRoundedRect(rect, radius, radius);
}

void TranscriptPainter::paintText(int index, std::size_t r, const QRectF& clip) {
  const MessageRows& message = m_layout.at(index);
  const Row& row = message.rows()[r];
  const QRectF text = message.textRect(row);
  m_painter.save();
  if (row.overflow > 0) m_painter.setClipRect(message.rowRect(row), Qt::IntersectClip);
  m_painter.translate(text.topLeft());
  row.document->paint(m_painter, clip.translated(-text.topLeft()), row.kind == RowKind::kText ? tintsOf(index, r) : Tints());
  const qreal radius = theme().smallRadius() / 2;
  if (m_look.focused && m_look.marks.stands() && m_look.marks.message() == message.content().id) {
    if (const MarkInRow at = markInRow(message, m_look.marks.mark()); at.row == static_cast<int>(r))
      paintRing(row.document->markRect(at.mark).adjusted(-2, -1, 2, 1), radius);
  }
  if (const auto openable = openableOf(message); openable && openable->attachment < 0 && openable->row == static_cast<int>(r)) {
    for (const QRectF& line : row.document->rectsOf(openable->from, openable->to)) paintRing(line.adjusted(-2, -1, 2, 1), radius);
  }
  m_painter.restore();
}

void TranscriptPainter::paintPhase(const MessageContent& content, const QRectF& rect) {
  const Colors& c = theme().colors();
  const qreal line = phaseLineHeight();
  // Three dots that take turns: something is going on, even while the share is unknown.
  qreal x = rect.left();
  for (int dot = 0; dot < 3; ++dot) {
    QColor color = c.accent;
    color.setAlpha(m_look.animationStep / 3 % 3 == dot ? 255 : 90);
    m_painter.setBrush(color);
    m_painter.setPen(Qt::NoPen);
    m_painter.drawEllipse(QPointF(x + theme().px(3), rect.top() + line / 2), theme().px(3), theme().px(3));
    x += theme().px(10);
  }
  const QFont font = theme().font(TextRole::kBody);
  const qreal width = rect.right() - x - theme().px(110);
  m_painter.setFont(font);
  m_painter.setPen(c.mutedText);
  m_painter.drawText(QRectF(x + theme().px(6), rect.top(), width, line), Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetricsF(font).elidedText(content.phase, Qt::ElideRight, width));
  if (content.phaseShare < 0) return;
  const QRectF track(rect.left(), rect.top() + line + theme().px(5), rect.width(), theme().px(4));
  fillRounded(m_painter, track, track.height() / 2, c.chartTrack);
  QRectF filled = track;
  filled.setWidth(std::max(track.height(), track.width() * std::min(1.0, content.phaseShare)));
  fillRounded(m_painter, filled, track.height() / 2, c.accent);
}

void TranscriptPainter::paintError(const MessageRows& message, const QRectF& rect) {
  const Colors& c = theme().colors();
  const app::ErrorText text = app::describeError(*message.content().error);
  fillRounded(m_painter, rect, theme().cornerRadius(), c.dangerSoft, c.border);
  const qreal icon = theme().px(20);
  paintGlyph(m_painter, Glyph::kWarning, QRectF(rect.left() + theme().px(16), rect.top() + errorPadding(), icon, icon), c.danger);
  const qreal left = rect.left() + errorTextLeft();
  const qreal width = errorTextWidth(rect.width());
  qreal y = rect.top() + errorPadding();
  const auto paragraph = [&](TextRole role, const QColor& color, const QString& words, int flags) {
    const QFont font = theme().font(role);
    const QRectF box = QFontMetricsF(font).boundingRect(QRectF(0, 0, width, 100000), flags, words);
    m_painter.setFont(font);
    m_painter.setPen(color);
    m_painter.drawText(QRectF(left, y, width, box.height() + 2), flags, words);
    y += box.height();
  };
  paragraph(TextRole::kStrong, c.text, text.cause, Qt::TextWordWrap);
  y += theme().px(4);
  paragraph(TextRole::kBody, c.text, remedyOf(message.content()), Qt::TextWordWrap);
  if (!message.open(Fold::kErrorDetails)) return;
  y += theme().px(8);
  paragraph(TextRole::kCaption, c.mutedText, text.details, Qt::TextWrapAnywhere | Qt::TextWordWrap);
}

void TranscriptPainter::paintNote(const MessageContent& content, const QRectF& rect) {
  m_painter.setFont(theme().font(TextRole::kCaption));
  m_painter.setPen(theme().colors().mutedText);
  m_painter.drawText(rect, Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap, noteOf(content));
}

// The number stands right of the first arrow, left of the second; at either end one of them is missing.
void TranscriptPainter::paintFooter(const MessageRows& message) {
  const MessageContent& content = message.content();
  if (content.branchCount < 2) return;
  m_painter.setFont(theme().font(TextRole::kCaption));
  for (const ActionArea& area : actionsOf(message, false)) {
    if (area.action != Action::kPreviousBranch && area.action != Action::kNextBranch) continue;
    const qreal left = area.action == Action::kPreviousBranch ? area.rect.right() : area.rect.left() - branchNumberWidth();
    m_painter.setPen(theme().colors().mutedText);
    m_painter.drawText(QRectF(left, area.rect.top(), branchNumberWidth(), area.rect.height()), Qt::AlignCenter,
                       PaintedWords::tr("%1/%2").arg(content.branch + 1).arg(content.branchCount));
    break;
  }
}

void TranscriptPainter::paintFigures(const MessageContent& content, const ActionArea& area, bool hovered) {
  const Colors& c = theme().colors();
  const QFontMetricsF font(theme().font(TextRole::kCaption));
  const auto write = [&](qreal left, const QString& words, const QColor& color) {
    m_painter.setPen(color);
    m_painter.drawText(area.rect.adjusted(left, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, words);
  };
  m_painter.setFont(theme().font(TextRole::kCaption));
  write(0, font.elidedText(area.label, Qt::ElideRight, area.rect.width()), hovered ? c.text : c.mutedText);
  if (content.verdict.isEmpty()) return;
  const qreal left = font.horizontalAdvance(area.label);
  const bool same = content.verdictKind == Verdict::kSame;
  const QColor color = content.verdictKind == Verdict::kNotChecked ? c.mutedText : same ? c.success : c.warning;
  const qreal glyph = theme().px(14);
  const QRectF sign(area.rect.left() + left + theme().px(10), area.rect.center().y() - glyph / 2, glyph, glyph);
  if (content.verdictKind == Verdict::kNotChecked) {
    write(left + theme().px(8), QStringLiteral("·"), color);
  } else {
    paintGlyph(m_painter, same ? Glyph::kCheck : Glyph::kDiffers, sign, color);
  }
  write(left + verdictGap(), content.verdict, color);
}

void TranscriptPainter::paintAction(const ActionArea& area, bool hovered) {
  const Colors& c = theme().colors();
  if (isOutlined(area.action)) {
    fillRounded(m_painter, area.rect, theme().smallRadius() + 2, hovered ? c.hover : c.surface, c.border);
  } else if (hovered) {
    fillRounded(m_painter, area.rect, theme().smallRadius(), c.hover);
  }
  const QColor color = hovered || isOutlined(area.action) ? c.text : c.mutedText;
  const qreal glyph = theme().px(16);
  if (area.hasGlyph && area.word.isEmpty()) {
    paintGlyph(m_painter, glyphOf(area), QRectF(area.rect.center() - QPointF(glyph / 2, glyph / 2), QSizeF(glyph, glyph)), color);
    return;
  }
  m_painter.setFont(theme().font(TextRole::kCaption));
  QRectF room = area.rect;
  if (area.hasGlyph) {
    paintGlyph(m_painter, glyphOf(area), QRectF(room.left() + theme().px(8), room.center().y() - glyph / 2, glyph, glyph), color);
    room.adjust(theme().px(8) + glyph, 0, 0, 0);
  }
  const bool isQuote = area.action == Action::kQuote;  // quotes stand below each other
  if (isQuote) room.adjust(theme().px(6), 0, -theme().px(8), 0);
  m_painter.setPen(color);
  m_painter.drawText(
      room, isQuote ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignCenter,
      QFontMetricsF(m_painter.font()).elidedText(area.word.isEmpty() ? area.label : area.word, Qt::ElideRight, room.width()));
}

}  // namespace winnow::ui
