#include "ui/chat_view/transcript_hits.h"

#include "ui/theme/theme.h"

namespace winnow::ui {

Target targetAt(const TranscriptLayout& layout, const QPointF& point) {
  Target target;
  const int index = layout.messageAt(point.y());
  if (index < 0) return target;
  const MessageRows& message = layout.at(index);
  const QPointF local(point.x(), point.y() - layout.top(index));
  if (local.y() <= message.height() + theme().px(4)) target.message = index;
  for (const ActionArea& area : actionsOf(message, true)) {
    if (!area.rect.contains(local)) continue;
    target.area = area;
    return target;
  }
  for (const Row& row : message.rows()) {
    if (row.kind != RowKind::kText || !row.document) continue;
    const QRectF rect = message.textRect(row);
    if (!rect.contains(local) || !message.rowRect(row).contains(local)) continue;
    target.text = true;
    target.link = row.document->linkAt(local - rect.topLeft());
    target.formula = row.document->formulaAt(local - rect.topLeft());
    if (const int mark = row.document->markAt(local - rect.topLeft()); mark >= 0)
      target.mark = static_cast<int>(message.marksOf(row).first) + mark;
  }
  return target;
}

std::optional<TextPosition> textPositionAt(const TranscriptLayout& layout, const QPointF& point) {
  const int index = layout.messageAt(point.y());
  if (index < 0) return std::nullopt;
  const MessageRows& message = layout.at(index);
  const qreal y = point.y() - layout.top(index);
  int best = -1;
  for (int r = 0; r < static_cast<int>(message.rows().size()); ++r) {
    const Row& row = message.rows()[static_cast<std::size_t>(r)];
    if (row.kind == RowKind::kText && row.document && (best < 0 || row.top <= y)) best = r;
  }
  if (best < 0) return std::nullopt;
  const Row& row = message.rows()[static_cast<std::size_t>(best)];
  const QRectF rect = message.textRect(row);
  return TextPosition{index, best, row.document->positionAt(QPointF(point.x() - rect.left(), y - rect.top()))};
}

QRectF actionRect(const TranscriptLayout& layout, qint64 message, Action action) {
  const int index = layout.indexOf(message);
  if (index < 0) return {};
  for (const ActionArea& area : actionsOf(layout.at(index), true)) {
    if (area.action == action) return area.rect.translated(0, layout.top(index));
  }
  return {};
}

QRectF attachmentRect(const TranscriptLayout& layout, qint64 message, int attachment) {
  const int index = layout.indexOf(message);
  if (index < 0) return {};
  for (const ActionArea& area : actionsOf(layout.at(index), true)) {
    if (area.action == Action::kAttachment && area.index == attachment) return area.rect.translated(0, layout.top(index));
  }
  return {};
}

MarkInRow markInRow(const MessageRows& message, int mark) {
  for (std::size_t number = 0; mark >= 0 && number < message.rows().size(); ++number) {
    const Row& row = message.rows()[number];
    if (row.kind != RowKind::kText) continue;
    const auto [first, last] = message.marksOf(row);
    if (static_cast<std::size_t>(mark) >= first && static_cast<std::size_t>(mark) < last)
      return {static_cast<int>(number), mark - static_cast<int>(first)};
  }
  return {};
}

QRectF markRect(const TranscriptLayout& layout, qint64 id, int mark) {
  const int index = layout.indexOf(id);
  if (index < 0) return {};
  const MessageRows& message = layout.at(index);
  const MarkInRow at = markInRow(message, mark);
  if (at.row < 0) return {};
  const Row& row = message.rows()[static_cast<std::size_t>(at.row)];
  const QRectF local = row.document ? row.document->markRect(at.mark) : QRectF();
  return local.isEmpty() ? QRectF() : local.translated(message.textRect(row).topLeft()).translated(0, layout.top(index));
}

}  // namespace winnow::ui
