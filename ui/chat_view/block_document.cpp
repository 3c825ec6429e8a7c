#include "ui/chat_view/block_document.h"

#include <QAbstractTextDocumentLayout>
#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextLayout>
#include <QTextTable>
#include <cmath>
#include <utility>

#include "app/words/display_text.h"
#include "app/words/word_places.h"
#include "ui/chat_view/code_colors.h"
#include "ui/chat_view/message_geometry.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

class ListingWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::ListingWords)
};

int g_alive = 0;  // UI thread only
int g_refused = 0;

constexpr int kQuoteDepthProperty = QTextFormat::UserProperty + 1;
constexpr int kListingProperty = QTextFormat::UserProperty + 2;  // its number, from 1
constexpr int kTabCharacters = 4;
constexpr int kMostTabs = 24;  // of a line

QTextCharFormat baseFormat(TextRole role) {
  QTextCharFormat format;
  format.setFont(theme().font(role));
  format.setForeground(theme().colors().text);
  return format;
}

QTextCharFormat runFormat(const TextRun& run, const QTextCharFormat& base) {
  QTextCharFormat format = base;
  const Colors& c = theme().colors();
  if (run.code) {
    QFont font = theme().font(TextRole::kCode);
    font.setPointSizeF(base.font().pointSizeF() * 0.95);
    format.setFont(font);
    format.setBackground(c.raised);
  }
  if (run.strong) format.setFontWeight(QFont::DemiBold);
  if (run.emphasis) format.setFontItalic(true);
  if (run.strike) format.setFontStrikeOut(true);
  if (run.muted) format.setForeground(c.mutedText);
  if (!run.href.isEmpty()) {
    format.setForeground(c.link);
    format.setFontUnderline(true);
    format.setAnchor(true);
    format.setAnchorHref(run.href);
  }
  return format;
}

void insertRuns(QTextCursor& cursor, const std::vector<TextRun>& runs, const QTextCharFormat& base, DocumentFormulas& formulas) {
  for (const TextRun& run : runs) {
    const bool set = run.formula && run.href.isEmpty() && formulas.insert(cursor, run.text, base);
    if (!set) cursor.insertText(run.text, runFormat(run, base));
  }
}

// code: as it is in the listing. shown: the same with other ends of lines.
void insertCode(QTextCursor& cursor, const QString& code, const QString& shown, const QString& language) {
  const Colors& c = theme().colors();
  const QTextCharFormat plain = baseFormat(TextRole::kCode);
  qsizetype at = 0;
  for (const CodeSpan& span : codeSpans(code, language)) {
    if (span.from > at) cursor.insertText(shown.mid(at, span.from - at), plain);
    QTextCharFormat format = plain;
    format.setForeground(span.part == CodePart::kKeyword  ? c.accent
                         : span.part == CodePart::kText   ? c.warning
                         : span.part == CodePart::kNumber ? c.link
                                                          : c.mutedText);
    cursor.insertText(shown.mid(span.from, span.length), format);
    at = span.from + span.length;
  }
  cursor.insertText(shown.mid(at), plain);
}

QTextBlockFormat blockFormat(const Block& block, bool first) {
  QTextBlockFormat format;
  format.setLineHeight(128, QTextBlockFormat::ProportionalHeight);
  const qreal indent = theme().px(22);
  format.setLeftMargin(indent * block.listDepth + theme().px(14) * block.quoteDepth);
  if (!block.marker.isEmpty()) format.setTextIndent(-indent);
  if (block.listDepth > 0) {
    // Counted from where the line begins, which is one indent to the left of the others.
    format.setTabPositions({QTextOption::Tab(indent, QTextOption::LeftTab)});
  }
  if (!first) format.setTopMargin(block.listDepth > 0 ? theme().px(3) : theme().px(8));
  if (block.quoteDepth > 0) format.setProperty(kQuoteDepthProperty, block.quoteDepth);
  return format;
}

// A line of its own, as high as it is.
QTextBlockFormat formulaFormat(QTextBlockFormat format) {
  format.setAlignment(Qt::AlignHCenter);
  format.setLineHeight(0, QTextBlockFormat::SingleHeight);
  format.setBottomMargin(theme().px(6));
  return format;
}

qreal tabWidth() { return kTabCharacters * QFontMetricsF(theme().font(TextRole::kCode)).horizontalAdvance(QLatin1Char(' ')); }

QTextTable* insertTable(QTextCursor& cursor, const Block& block, DocumentFormulas& formulas) {
  std::size_t columns = 1;
  for (const auto& row : block.rows) columns = std::max(columns, row.size());
  const Colors& c = theme().colors();
  QTextTableFormat format;
  format.setBorder(1);
  format.setBorderBrush(c.border);
  format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
  format.setBorderCollapse(true);
  format.setCellPadding(theme().px(6));
  format.setCellSpacing(0);
  QTextTable* table = cursor.insertTable(static_cast<int>(block.rows.size()), static_cast<int>(columns), format);
  for (std::size_t r = 0; r < block.rows.size(); ++r) {
    for (std::size_t k = 0; k < block.rows[r].size(); ++k) {
      const TableCell& cell = block.rows[r][k];
      QTextTableCell target = table->cellAt(static_cast<int>(r), static_cast<int>(k));
      QTextCursor at = target.firstCursorPosition();
      QTextBlockFormat alignment;
      alignment.setAlignment(cell.alignment);
      at.mergeBlockFormat(alignment);
      insertRuns(at, cell.runs, baseFormat(cell.header ? TextRole::kStrong : TextRole::kBody), formulas);
      if (cell.header) {
        QTextTableCellFormat header;
        header.setBackground(c.raised);
        target.setFormat(header);
      }
    }
  }
  return table;
}

QUrl linkOf(const QString& address) {
  const QUrl url(address);
  return leadsToPlace(url) ? url : allowedLink(address);
}

}  // namespace

QString listingTitle(const QString& language) { return language.isEmpty() ? ListingWords::tr("code") : app::displayText(language); }

BlockDocument::Document::Document() { ++g_alive; }
BlockDocument::Document::~Document() { --g_alive; }
QVariant BlockDocument::Document::loadResource(int, const QUrl&) {
  ++g_refused;
  return {};
}

int BlockDocument::alive() { return g_alive; }
int BlockDocument::refusedResources() { return g_refused; }

BlockDocument::BlockDocument(QStringView source, BlockStyle style, const Surroundings& surroundings) {
  m_document.setUndoRedoEnabled(false);
  m_document.setDocumentMargin(0);
  m_document.setUseDesignMetrics(true);
  QTextOption option;
  option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  option.setTabStopDistance(tabWidth());
  m_document.setDefaultTextOption(option);
  m_document.setDefaultFont(theme().font(style == BlockStyle::kCode ? TextRole::kCode : TextRole::kBody));
  if (style == BlockStyle::kMarkdown) {
    buildMarkdown(source, surroundings.places);
    return;
  }
  QTextCursor cursor(&m_document);
  QTextBlockFormat format;
  format.setLineHeight(style == BlockStyle::kCode ? 120 : 128, QTextBlockFormat::ProportionalHeight);
  cursor.setBlockFormat(format);
  QString text = app::displayText(source);
  while (text.endsWith(QLatin1Char('\n'))) text.chop(1);
  if (style == BlockStyle::kCode) {
    insertCode(cursor, text, text, surroundings.language);
    return;
  }
  QTextCharFormat characters = baseFormat(TextRole::kBody);
  if (style == BlockStyle::kThought) characters.setForeground(theme().colors().mutedText);
  cursor.insertText(text, characters);
}

void BlockDocument::buildMarkdown(QStringView source, const LinkedPlaces& places) {
  std::vector<Block> blocks = parseMarkdown(source);
  for (Block& block : blocks) {
    linkPlaces(block.runs, places);
    for (std::vector<TableCell>& row : block.rows) {
      for (TableCell& cell : row) linkPlaces(cell.runs, places);
    }
  }
  QTextCursor cursor(&m_document);
  bool first = true;
  cursor.beginEditBlock();
  for (const Block& block : blocks) {
    const QTextBlockFormat format = blockFormat(block, first);
    if (block.kind == BlockKind::kTable) {
      m_tables.emplace_back(insertTable(cursor, block, m_formulas), block, theme().px(6));
      cursor.movePosition(QTextCursor::End);
      first = false;
      continue;
    }
    if (first) {
      cursor.setBlockFormat(format);
    } else {
      cursor.insertBlock(format, baseFormat(TextRole::kBody));
    }
    first = false;
    switch (block.kind) {
      case BlockKind::kHeading:
        insertRuns(cursor, block.runs,
                   baseFormat(block.headingLevel <= 1   ? TextRole::kTitle
                              : block.headingLevel == 2 ? TextRole::kHeading
                                                        : TextRole::kStrong),
                   m_formulas);
        break;
      case BlockKind::kCode: {
        cursor.setBlockFormat(listingFormat(block, format));
        QString code = block.code;
        if (code.endsWith(QLatin1Char('\n'))) code.chop(1);
        const QString shown = QString(code).replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
        insertCode(cursor, code, shown, block.language);
        break;
      }
      case BlockKind::kRule: {
        QTextBlockFormat rule = format;
        rule.setProperty(QTextFormat::BlockTrailingHorizontalRulerWidth, QTextLength(QTextLength::PercentageLength, 100));
        cursor.setBlockFormat(rule);
        break;
      }
      case BlockKind::kFormula:
        insertRuns(cursor, block.runs, baseFormat(TextRole::kBody), m_formulas);
        if (m_formulas.sourceAt(cursor.position() - 1).isEmpty()) break;
        cursor.setBlockFormat(formulaFormat(format));
        break;
      default: {
        if (!block.marker.isEmpty()) {
          QTextCharFormat marker = baseFormat(TextRole::kBody);
          marker.setForeground(theme().colors().mutedText);
          cursor.insertText(block.marker + QLatin1Char('\t'), marker);
        }
        insertRuns(cursor, block.runs, baseFormat(TextRole::kBody), m_formulas);
        break;
      }
    }
  }
  cursor.endEditBlock();
}

void BlockDocument::setMarks(QStringView source, const std::vector<TextMark>& marks) {
  m_marks = placesOfMarks(source, marks, m_formulas.told(m_document.toRawText(), 0));
  const Colors& c = theme().colors();
  QTextCursor cursor(&m_document);
  cursor.beginEditBlock();
  for (MarkPlace& place : m_marks) {
    place.to = m_formulas.positionOf(place.to - 1) + 1;
    place.from = m_formulas.positionOf(place.from);
    const bool first = marks[place.mark].kind == TextMark::Kind::kFirst;
    QTextCharFormat format;
    format.setBackground(c.warningSoft);
    format.setUnderlineColor(c.warning);
    format.setUnderlineStyle(first ? QTextCharFormat::SingleUnderline : QTextCharFormat::DashUnderline);
    if (first) format.setFontWeight(QFont::Bold);
    cursor.setPosition(place.from);
    cursor.setPosition(place.to, QTextCursor::KeepAnchor);
    cursor.mergeCharFormat(format);
  }
  cursor.endEditBlock();
}

int BlockDocument::markAt(const QPointF& point) const {
  const int position = m_document.documentLayout()->hitTest(point, Qt::ExactHit);
  for (const MarkPlace& place : m_marks) {
    if (position >= place.from && position < place.to) return static_cast<int>(place.mark);
  }
  return -1;
}

QRectF BlockDocument::markRect(int mark) const {
  const auto place =
      std::find_if(m_marks.begin(), m_marks.end(), [mark](const MarkPlace& each) { return static_cast<int>(each.mark) == mark; });
  return place == m_marks.end() ? QRectF() : rectOf(place->from, place->to);
}

std::vector<QRectF> BlockDocument::rectsOf(int from, int to) const {
  std::vector<QRectF> rects;
  const QTextBlock block = m_document.findBlock(from);
  const QPointF origin = m_document.documentLayout()->blockBoundingRect(block).topLeft();  // lays out what was not yet
  const int first = from - block.position(), last = first + to - from;
  for (int at = first; at < last;) {
    const QTextLine line = block.layout()->lineForTextPosition(at);
    if (!line.isValid() || line.textLength() == 0) break;
    const int end = std::min(last, line.textStart() + line.textLength());
    const qreal left = line.cursorToX(at), right = line.cursorToX(end);
    rects.emplace_back(origin.x() + std::min(left, right), origin.y() + line.y(), std::abs(right - left), line.height());
    at = line.textStart() + line.textLength();
  }
  return rects;
}

QRectF BlockDocument::rectOf(int from, int to) const {
  const std::vector<QRectF> rects = rectsOf(from, to);
  return rects.empty() ? QRectF() : rects.front();
}

void BlockDocument::setWidth(qreal width) {
  if (qFuzzyCompare(m_width, width)) return;
  const qreal before = std::exchange(m_width, width);
  qreal wide = std::max(width, std::ceil(m_formulas.fitInto(width)));
  for (TableColumns& table : m_tables) {
    const qreal own = table.widthWithin(width);
    table.setWidth(own);
    wide = std::max(wide, std::ceil(own) + 2);
  }
  const bool wasWide = m_document.textWidth() > before;
  m_document.setTextWidth(wide);
  if (m_tables.empty() && !wasWide && wide == width) return;
  // Blocks beside a table or a wide formula stay within the column.
  for (QTextBlock block = m_document.begin(); block.isValid(); block = block.next()) {
    QTextCursor cursor(block);
    if (cursor.currentTable() != nullptr) continue;
    QTextBlockFormat format;
    const bool wider = m_formulas.isWiderThan(width, block);
    format.setRightMargin(wider ? 0 : wide - width + (block.blockFormat().hasProperty(kListingProperty) ? codePadding() : 0));
    cursor.mergeBlockFormat(format);
  }
}

// Room for its frame and the frame's head.
QTextBlockFormat BlockDocument::listingFormat(const Block& block, QTextBlockFormat format) {
  m_listings.push_back(block.language);
  format.setProperty(kListingProperty, static_cast<int>(m_listings.size()));
  format.setLeftMargin(format.leftMargin() + codePadding());
  format.setRightMargin(codePadding());
  format.setTopMargin(format.topMargin() + codeHeaderHeight());
  format.setBottomMargin(codePadding());
  format.setTextIndent(0);
  QList<QTextOption::Tab> tabs;
  for (int i = 1; i <= kMostTabs; ++i) tabs.append(QTextOption::Tab(i * tabWidth(), QTextOption::LeftTab));
  format.setTabPositions(tabs);
  return format;
}

QRectF BlockDocument::listingFrame(const QTextBlock& block) const {
  const QRectF text = m_document.documentLayout()->blockBoundingRect(block);
  const qreal left = block.blockFormat().leftMargin() - codePadding();
  return QRectF(left, text.top() - codeHeaderHeight(), m_width - left, text.height() + codeHeaderHeight() + codePadding());
}

std::vector<BlockDocument::Listing> BlockDocument::listings() const {
  std::vector<Listing> listings;
  if (m_listings.empty()) return listings;
  for (QTextBlock block = m_document.begin(); block.isValid(); block = block.next()) {
    const int number = block.blockFormat().intProperty(kListingProperty);
    if (number > 0) listings.push_back({listingFrame(block), m_listings[static_cast<std::size_t>(number - 1)]});
  }
  return listings;
}

void BlockDocument::paintListings(QPainter& painter) {
  const Colors& c = theme().colors();
  for (const Listing& listing : listings()) {
    painter.setBrush(c.code);
    painter.setPen(QPen(c.border, 1));
    painter.drawRoundedRect(listing.frame.adjusted(0.5, 0.5, -0.5, -0.5), theme().cornerRadius(), theme().cornerRadius());
    painter.setFont(theme().font(TextRole::kCaption));
    painter.setPen(c.mutedText);
    painter.drawText(QRectF(listing.frame.left() + codePadding(), listing.frame.top(), listing.frame.width() / 2, codeHeaderHeight()),
                     Qt::AlignVCenter | Qt::AlignLeft, listingTitle(listing.language));
  }
}

void BlockDocument::paintQuoteBars(QPainter& painter) {
  for (QTextBlock block = m_document.begin(); block.isValid(); block = block.next()) {
    const int depth = block.blockFormat().intProperty(kQuoteDepthProperty);
    if (depth <= 0) continue;
    const QRectF rect = m_document.documentLayout()->blockBoundingRect(block);
    for (int level = 0; level < depth; ++level) {
      painter.fillRect(QRectF(theme().px(14) * level, rect.top(), theme().px(3), rect.height()), theme().colors().border);
    }
  }
}

std::vector<std::pair<int, int>> BlockDocument::placesOf(const QString& words) const {
  std::vector<std::pair<int, int>> places;
  for (const auto& [from, to] : app::placesOfWords(m_formulas.told(m_document.toRawText(), 0), words)) {  // position by position
    const int first = std::max(m_formulas.positionOf(from), places.empty() ? 0 : places.back().second),
              last = m_formulas.positionOf(to - 1) + 1;
    if (first < last) places.emplace_back(first, last);  // a formula is found once
  }
  return places;
}

void BlockDocument::paint(QPainter& painter, const QRectF& clip, const std::vector<Tint>& tints) {
  paintQuoteBars(painter);
  paintListings(painter);
  QAbstractTextDocumentLayout::PaintContext context;
  context.clip = clip;
  context.palette.setColor(QPalette::Text, theme().colors().text);
  for (const Tint& tint : tints) {
    QAbstractTextDocumentLayout::Selection selection;
    selection.cursor = QTextCursor(&m_document);
    selection.cursor.setPosition(std::clamp(tint.from, 0, length()));
    selection.cursor.setPosition(std::clamp(tint.to, 0, length()), QTextCursor::KeepAnchor);
    selection.format.setBackground(tint.ground);
    if (tint.text.isValid()) selection.format.setForeground(tint.text);
    context.selections.append(selection);
  }
  m_document.documentLayout()->draw(&painter, context);
}

int BlockDocument::positionAt(const QPointF& point) const { return std::max(0, m_document.documentLayout()->hitTest(point, Qt::FuzzyHit)); }

QUrl BlockDocument::linkAt(const QPointF& point) const {
  const QString address = m_document.documentLayout()->anchorAt(point);
  return address.isEmpty() ? QUrl() : linkOf(address);
}

QString BlockDocument::formulaAt(const QPointF& point) const {
  return m_formulas.sourceAt(m_document.documentLayout()->hitTest(point, Qt::ExactHit));
}

std::vector<BlockDocument::Link> BlockDocument::links() const {
  std::vector<Link> links;
  for (QTextBlock block = m_document.begin(); block.isValid(); block = block.next()) {
    for (auto it = block.begin(); !it.atEnd(); ++it) {
      const QTextFragment part = it.fragment();
      if (!part.charFormat().isAnchor()) continue;
      const QUrl address = linkOf(part.charFormat().anchorHref());
      const int from = part.position(), to = from + part.length();
      if (!links.empty() && links.back().to == from && links.back().address == address) {  // of several looks
        links.back().to = to;
      } else if (address.isValid()) {
        links.push_back({address, from, to});
      }
    }
  }
  return links;
}

QString BlockDocument::textBetween(int from, int to) const {
  QTextCursor cursor(const_cast<Document*>(&m_document));
  cursor.setPosition(std::clamp(from, 0, length()));
  cursor.setPosition(std::clamp(to, 0, length()), QTextCursor::KeepAnchor);
  QString text = m_formulas.told(cursor.selectedText(), cursor.selectionStart());
  text.replace(QChar(QChar::ParagraphSeparator), QLatin1Char('\n'));
  text.replace(QChar(QChar::LineSeparator), QLatin1Char('\n'));
  return text;
}

void BlockDocument::wordAround(int position, int& from, int& to) const {
  QTextCursor cursor(const_cast<Document*>(&m_document));
  cursor.setPosition(std::clamp(position, 0, length()));
  cursor.select(QTextCursor::WordUnderCursor);
  from = cursor.selectionStart();
  to = cursor.selectionEnd();
}

}  // namespace winnow::ui
