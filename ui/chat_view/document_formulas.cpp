#include "ui/chat_view/document_formulas.h"

#include <QAbstractTextDocumentLayout>
#include <QFontMetrics>
#include <QPainter>
#include <QTextBlock>
#include <QTextLayout>
#include <QTextTable>
#include <algorithm>

#include "ui/chat_view/formula/formula_layout.h"

namespace winnow::ui {
namespace {

constexpr int kFormulaObject = QTextFormat::UserObject + 1;
constexpr int kNumberProperty = QTextFormat::UserProperty + 3;
constexpr qreal kSmallest = 0.6;

// The height of an object that reaches so far above its line's baseline and below it. Qt takes both from its height and from half the
// x-height of its format's font: as their sum and their difference (QTextCharFormat::AlignMiddle).
qreal heightOf(const QTextFormat& format, qreal ascent, qreal descent) {
  const qreal half = QFontMetrics(format.toCharFormat().font()).xHeight() / 2.0;
  return std::max(2 * ascent - half, 2 * descent + half);
}

// A font whose x-height lets an object reach just as far as it has to.
QFont fontFor(QFont font, const FormulaBox& box) {
  const qreal wanted = std::max(1.0, 2 * (box.ascent - box.descent));
  font.setPointSizeF(font.pointSizeF() * wanted / std::max(1, QFontMetrics(font).xHeight()));
  return font;
}

}  // namespace

DocumentFormulas::DocumentFormulas(QTextDocument& document) : m_document(document) {
  document.documentLayout()->registerHandler(kFormulaObject, this);
}

bool DocumentFormulas::insert(QTextCursor& cursor, const QString& source, const QTextCharFormat& format) {
  std::optional<FormulaBox> box = setFormula(source, format.font());
  if (!box) return false;
  QTextCharFormat object = format;
  object.setObjectType(kFormulaObject);
  object.setProperty(kNumberProperty, static_cast<int>(m_placed.size()));
  object.setVerticalAlignment(QTextCharFormat::AlignMiddle);
  object.setFont(fontFor(format.font(), *box));
  const qsizetype longer = m_placed.empty() ? 0 : m_placed.back().toldAt - m_placed.back().position + m_placed.back().source.size() - 1;
  m_placed.push_back({cursor.position(), cursor.position() + longer, source, std::move(*box)});
  cursor.insertText(QString(QChar(QChar::ObjectReplacementCharacter)), object);
  return true;
}

const DocumentFormulas::Placed& DocumentFormulas::placed(const QTextFormat& format) const {
  return m_placed.at(static_cast<std::size_t>(format.intProperty(kNumberProperty)));
}

qreal DocumentFormulas::rightEdge(const Placed& formula) const {
  return m_document.findBlock(formula.position).blockFormat().leftMargin() + formula.box.width * formula.scale;
}

qreal DocumentFormulas::fitInto(qreal width) {
  qreal widest = 0.0;
  for (Placed& formula : m_placed) {
    if (const QTextCursor cursor(m_document.findBlock(formula.position)); cursor.currentTable() != nullptr) continue;
    const qreal before = std::exchange(formula.scale, 1.0), left = rightEdge(formula) - formula.box.width;
    formula.scale = std::clamp((width - left) / formula.box.width, kSmallest, 1.0);
    if (formula.scale != before) m_document.markContentsDirty(formula.position, 1);
    if (rightEdge(formula) > width + 0.5) widest = std::max(widest, rightEdge(formula));
  }
  return widest;
}

bool DocumentFormulas::isWiderThan(qreal width, const QTextBlock& block) const {
  return std::any_of(m_placed.begin(), m_placed.end(),
                     [&](const Placed& formula) { return block.contains(formula.position) && rightEdge(formula) > width; });
}

QString DocumentFormulas::told(const QString& text, int from) const {
  QString told;
  qsizetype copied = 0;
  for (const Placed& formula : m_placed) {
    const qsizetype at = formula.position - from;
    if (at < 0 || at >= text.size()) continue;
    told += QStringView(text).mid(copied, at - copied);
    told += formula.source;
    copied = at + 1;
  }
  told += QStringView(text).mid(copied);
  return told;
}

int DocumentFormulas::positionOf(qsizetype toldAt) const {
  const auto behind =
      std::upper_bound(m_placed.begin(), m_placed.end(), toldAt, [](qsizetype at, const Placed& each) { return at < each.toldAt; });
  if (behind == m_placed.begin()) return static_cast<int>(toldAt);
  const Placed& formula = *std::prev(behind);
  const qsizetype beyond = toldAt - formula.toldAt - formula.source.size();
  return formula.position + (beyond < 0 ? 0 : static_cast<int>(beyond) + 1);
}

QString DocumentFormulas::sourceAt(int position) const {
  const auto found = std::find_if(m_placed.begin(), m_placed.end(), [&](const Placed& each) { return each.position == position; });
  return found == m_placed.end() ? QString() : found->source;
}

QSizeF DocumentFormulas::intrinsicSize(QTextDocument*, int, const QTextFormat& format) {
  const Placed& formula = placed(format);
  const FormulaBox& box = formula.box;
  return {box.width * formula.scale, heightOf(format, box.ascent * formula.scale, box.descent * formula.scale)};
}

// Qt draws such an object in the middle of its line, whose baseline is where the formula belongs.
void DocumentFormulas::drawObject(QPainter* painter, const QRectF& rect, QTextDocument* document, int position, const QTextFormat& format) {
  const Placed& formula = placed(format);
  const QTextBlock block = document->findBlock(position);
  const QTextLine line = block.layout()->lineForTextPosition(position - block.position());
  painter->save();
  painter->translate(rect.left(), rect.center().y() - line.height() / 2 + line.ascent());
  painter->scale(formula.scale, formula.scale);
  formula.box.draw(*painter, {}, format.foreground().color());
  painter->restore();
}

}  // namespace winnow::ui
