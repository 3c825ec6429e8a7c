#include "ui/chat_view/message_rows.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "app/words/error_text.h"
#include "ui/chat_view/message_actions.h"
#include "ui/chat_view/message_geometry.h"
#include "ui/chat_view/message_note.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

int g_documentsBuilt = 0;

}  // namespace

int MessageRows::documentsBuilt() { return g_documentsBuilt; }

MessageRows::MessageRows(MessageContent content) : m_content(std::move(content)) {
  m_splitter.append(m_content.text);
  m_thought.append(m_content.thought);
  rebuildRows();
}

void MessageRows::update(MessageContent content) {
  if (content.text != m_content.text) {
    // The final text is usually what was streamed: then nothing is parsed again.
    m_splitter.clear();
    m_splitter.append(content.text);
    m_rows.clear();
    m_bubbleWidth = 0;
  } else {
    setMarks(std::move(content.marks));
    content.marks = m_content.marks;
  }
  if (content.thought != m_content.thought) {
    m_thought.clear();
    m_thought.append(content.thought);
    forgetBlocks(RowKind::kThoughtText, 0);
  }
  m_content = std::move(content);
  rebuildRows();
  if (m_width > 0) place();
}

void MessageRows::forgetBlocks(RowKind kind, std::size_t first) {
  for (Row& row : m_rows) {
    if (row.kind != kind || row.block < first) continue;
    row.measured = false;
    row.document.reset();
  }
}

void MessageRows::append(QStringView delta, RowKind kind) {
  const bool thought = kind == RowKind::kThoughtText;
  (thought ? m_content.thought : m_content.text).append(delta);
  forgetBlocks(kind, (thought ? m_thought : m_splitter).append(delta));
  rebuildRows();
  if (m_width > 0) place();
}

void MessageRows::setPhase(const QString& phase, double share) {
  const bool hadPhase = !m_content.phase.isEmpty();
  m_content.phase = phase;
  m_content.phaseShare = share;
  if (hadPhase != !phase.isEmpty()) {
    rebuildRows();
    if (m_width > 0) place();
  }
}

void MessageRows::setMarks(std::vector<TextMark> marks) {
  if (marks == m_content.marks) return;
  std::vector<std::vector<TextMark>> before;
  for (const Row& row : m_rows) before.push_back(row.kind == RowKind::kText ? marksWithin(row) : std::vector<TextMark>());
  m_content.marks = std::move(marks);
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    if (m_rows[i].kind != RowKind::kText || marksWithin(m_rows[i]) == before[i]) continue;
    m_rows[i].measured = false;  // a heavier word may take another line
    m_rows[i].document.reset();
  }
}

std::pair<std::size_t, std::size_t> MessageRows::marksOf(const Row& row) const {
  const SourceBlock& block = m_splitter.blocks()[row.block];
  const auto begins = [](const TextMark& mark, qsizetype at) { return mark.from < at; };
  const std::vector<TextMark>& marks = m_content.marks;
  const auto first = std::lower_bound(marks.begin(), marks.end(), block.start, begins);
  const auto last = std::lower_bound(first, marks.end(), block.start + block.length, begins);
  return {static_cast<std::size_t>(first - marks.begin()), static_cast<std::size_t>(last - marks.begin())};
}

std::vector<TextMark> MessageRows::marksWithin(const Row& row) const {
  const auto [first, last] = marksOf(row);
  const SourceBlock& block = m_splitter.blocks()[row.block];
  std::vector<TextMark> marks(m_content.marks.begin() + static_cast<std::ptrdiff_t>(first),
                              m_content.marks.begin() + static_cast<std::ptrdiff_t>(last));
  for (TextMark& mark : marks) mark.from -= isCode(row) ? block.codeStart : block.start;
  return marks;
}

// One row for each block; those that were there are kept.
void MessageRows::addBlocks(RowKind kind, const MarkdownSplitter& splitter, std::vector<Row>& known) {
  for (std::size_t i = 0; i < splitter.blocks().size(); ++i) {
    m_rows.push_back(i < known.size() ? std::move(known[i]) : Row());
    m_rows.back().kind = kind;
    m_rows.back().block = i;
  }
}

void MessageRows::rebuildRows() {
  std::vector<Row> text;
  std::vector<Row> thought;
  for (Row& row : m_rows) {
    if (row.kind == RowKind::kText && row.block < m_splitter.blocks().size())
      text.push_back(std::move(row));
    else if (row.kind == RowKind::kThoughtText && row.block < m_thought.blocks().size())
      thought.push_back(std::move(row));
  }
  m_rows.clear();
  const auto add = [this](RowKind kind) {
    Row row{.kind = kind};
    m_rows.push_back(std::move(row));
  };
  const bool assistant = m_content.speaker == Speaker::kAssistant;
  if (assistant && !m_content.bare) add(RowKind::kRole);
  if (!assistant && !m_content.attachments.empty()) add(RowKind::kAttachments);
  if (!m_content.thought.isEmpty()) add(RowKind::kThought);
  if (!m_thoughtOpen && thinks(m_content)) add(RowKind::kThoughtTail);
  if (m_thoughtOpen) addBlocks(RowKind::kThoughtText, m_thought, thought);
  addBlocks(RowKind::kText, m_splitter, text);
  if (assistant && !m_content.attachments.empty()) add(RowKind::kAttachments);
  if (!m_content.phase.isEmpty()) add(RowKind::kPhase);
  if (m_content.error) add(RowKind::kError);
  if (!m_content.quotes.isEmpty()) add(RowKind::kQuotes);
  if (!noteOf(m_content).isEmpty()) add(RowKind::kNote);
  const bool busy = m_content.status == MessageStatus::kWaiting || m_content.status == MessageStatus::kStreaming;
  if (m_content.bare) return;
  if (!m_content.comparisons.empty()) add(RowKind::kComparisons);
  if (!assistant && m_content.branchCount > 1) add(RowKind::kFooter);  // wordings of the question
  if (assistant && !busy && (!m_content.error || m_content.branchCount > 1)) add(RowKind::kFooter);
}

void MessageRows::layout(qreal width) {
  if (width != m_width) {
    m_width = width;
    for (Row& row : m_rows) row.measured = false;
    m_bubbleWidth = 0;
  }
  place();
}

void MessageRows::invalidate() {
  for (Row& row : m_rows) {
    row.measured = false;
    row.document.reset();
  }
  m_bubbleWidth = 0;
  if (m_width > 0) place();
}

bool MessageRows::isCode(const Row& row) const {
  return row.kind == RowKind::kText && m_content.speaker == Speaker::kAssistant && row.block < m_splitter.blocks().size() &&
         m_splitter.blocks()[row.block].code;
}

BlockStyle MessageRows::styleOf(const Row& row) const {
  if (m_content.speaker == Speaker::kUser) return BlockStyle::kPlain;
  if (row.kind == RowKind::kThoughtText) return BlockStyle::kThought;
  return isCode(row) ? BlockStyle::kCode : BlockStyle::kMarkdown;
}

qreal MessageRows::innerWidth() const {
  if (m_content.speaker == Speaker::kAssistant) return m_width;
  return std::max<qreal>(40, std::min(m_width * 0.86, m_width - theme().px(24)) - 2 * bubblePadding());
}

qreal MessageRows::gapAbove(std::size_t index) const {
  const Row& row = m_rows[index];
  if (index == 0) return m_content.speaker == Speaker::kUser ? theme().px(10) : 0;
  switch (row.kind) {
    case RowKind::kText:
    case RowKind::kThoughtText:
      if (blockOf(row).continues) return 0;
      return theme().px(m_rows[index - 1].kind == row.kind ? 10 : 6);
    case RowKind::kComparisons: return theme().px(14);  // out of the bubble
    default: return theme().px(8);
  }
}

qreal MessageRows::estimate(const Row& row) const {
  const QFontMetricsF metrics(theme().font(TextRole::kBody));
  const qreal charactersPerLine = std::max<qreal>(8, innerWidth() / std::max<qreal>(1, metrics.averageCharWidth()));
  const SourceBlock& block = blockOf(row);
  qreal lines = std::ceil(block.length / charactersPerLine);
  if (isCode(row)) lines = std::max(lines, block.length / 30.0);
  return std::max<qreal>(1, lines) * metrics.height() * 1.28 + (isCode(row) ? codeHeaderHeight() + theme().px(20) : 0);
}

qreal MessageRows::measureFixed(const Row& row) const {
  const QFontMetricsF caption(theme().font(TextRole::kCaption));
  const QFontMetricsF body(theme().font(TextRole::kBody));
  switch (row.kind) {
    case RowKind::kRole: return std::max(caption.height(), qreal(theme().px(22)));
    case RowKind::kAttachments: return AttachmentGrid(innerWidth(), m_content.attachments).height();
    case RowKind::kPhase: return std::max(body.height(), phaseLineHeight()) + theme().px(12);
    case RowKind::kError: {
      const app::ErrorText text = app::describeError(*m_content.error);
      const QString remedy = remedyOf(m_content);
      const QRectF wide(0, 0, errorTextWidth(m_width), 100000);
      qreal height = errorPadding() * 2;
      height += QFontMetricsF(theme().font(TextRole::kStrong)).boundingRect(wide, Qt::TextWordWrap, text.cause).height();
      height += theme().px(4) + body.boundingRect(wide, Qt::TextWordWrap, remedy).height();
      if (m_errorDetails)
        height += theme().px(8) + caption.boundingRect(wide, Qt::TextWrapAnywhere | Qt::TextWordWrap, text.details).height();
      return height + theme().px(10) + errorActionsHeight(*this, m_width);
    }
    case RowKind::kNote: {
      const QRectF words = caption.boundingRect(QRectF(0, 0, m_width, 100000), Qt::TextWordWrap, noteOf(m_content));
      return words.height() + (m_content.error || !wayOn(m_content) ? 0 : theme().px(6) + buttonHeight());
    }
    case RowKind::kFooter: return buttonHeight();
    case RowKind::kComparisons: return static_cast<qreal>(m_content.comparisons.size()) * comparisonStep() - theme().px(6);
    case RowKind::kQuotes: return static_cast<qreal>(m_content.quotes.size()) * quoteStep() - theme().px(4);
    case RowKind::kThought: return buttonHeight();
    case RowKind::kThoughtTail: return caption.height() + theme().px(4);
    case RowKind::kText:
    case RowKind::kThoughtText: break;
  }
  return 0;
}

void MessageRows::place() {
  qreal y = 0;
  const bool user = m_content.speaker == Speaker::kUser;
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    Row& row = m_rows[i];
    if (!row.measured) {
      if (row.hasDocument()) {
        row.height = row.height > 0 && row.document ? row.height : estimate(row);
      } else {
        row.height = measureFixed(row);
      }
    }
    if (!row.hasDocument()) row.height = measureFixed(row);
    row.top = y + gapAbove(i);
    y = row.top + row.height;
  }
  if (user) y += theme().px(10);
  m_height = y;
}

std::unique_ptr<BlockDocument> MessageRows::makeDocument(const Row& row) const {
  ++g_documentsBuilt;
  if (row.kind == RowKind::kThoughtText) return std::make_unique<BlockDocument>(m_thought.source(blockOf(row)), BlockStyle::kThought);
  const SourceBlock& block = m_splitter.blocks()[row.block];
  const QStringView source = isCode(row) ? QStringView(m_splitter.text()).mid(block.codeStart, block.codeLength) : m_splitter.source(block);
  auto document = std::make_unique<BlockDocument>(source, styleOf(row), BlockDocument::Surroundings{block.language, m_content.places});
  if (const std::vector<TextMark> marks = marksWithin(row); !marks.empty()) document->setMarks(source, marks);
  return document;
}

qreal MessageRows::documentWidth(const Row& row) const {
  return innerWidth() - (isCode(row) ? 2 * codePadding() : row.kind == RowKind::kThoughtText ? thoughtIndent() : 0);
}

bool MessageRows::measureRows(qreal top, qreal bottom) {
  const bool user = m_content.speaker == Speaker::kUser;
  bool changed = false;
  qreal shift = 0;
  for (Row& row : m_rows) {
    if (!row.hasDocument()) continue;
    if (row.top + shift > bottom) break;
    if (row.top + shift + row.height < top) continue;
    if (!row.document) row.document = makeDocument(row);
    if (row.measured) {
      if (!user) row.document->setWidth(documentWidth(row));
      continue;
    }
    row.document->setWidth(documentWidth(row));
    row.overflow = row.document->overflow();
    row.sideways = std::min(row.sideways, row.overflow);
    qreal height = row.document->height() + (row.overflow > 0 ? sidewaysBarHeight() : 0);
    if (isCode(row)) {
      const SourceBlock& block = m_splitter.blocks()[row.block];
      height += (block.continues ? 0 : codeHeaderHeight()) + codePadding();
    }
    // A pixel more than the longest line, or rounding would break it.
    if (user) m_bubbleWidth = std::max(m_bubbleWidth, std::min(std::ceil(row.document->idealWidth()) + 1, innerWidth()));
    shift += height - row.height;
    changed = changed || height != row.height;
    row.height = height;
    row.measured = true;
  }
  if (changed) place();
  if (user) fitToBubble();
  return changed;
}

// Text that runs from right to left begins at the right edge of its document: of the bubble, not of the column. Lines stay as they are,
// for the bubble is as wide as the longest.
void MessageRows::fitToBubble() {
  const qreal inner = bubble().width() - 2 * bubblePadding();
  for (Row& row : m_rows) {
    if (row.document) row.document->setWidth(inner);
  }
}

void MessageRows::releaseOutside(qreal top, qreal bottom) {
  for (Row& row : m_rows) {
    if (row.document && (row.top > bottom || row.top + row.height < top)) row.document.reset();
  }
}

QRectF MessageRows::bubble() const {
  if (m_content.speaker != Speaker::kUser) return {};
  qreal inner = m_bubbleWidth > 0 ? m_bubbleWidth : 0;
  bool anyUnmeasured = false;
  qreal bottom = 0;
  for (const Row& row : m_rows) {
    if (row.kind == RowKind::kFooter || row.kind == RowKind::kComparisons) continue;
    if (row.kind == RowKind::kText && !row.measured) anyUnmeasured = true;
    bottom = row.top + row.height;
  }
  if (anyUnmeasured) inner = innerWidth();
  if (!m_content.attachments.empty()) inner = std::max(inner, AttachmentGrid(innerWidth(), m_content.attachments).width());
  const qreal width = std::ceil(inner) + 2 * bubblePadding();
  return QRectF(m_width - width, 0, width, bottom + theme().px(7));  // the last line's own leading makes up the rest
}

QRectF MessageRows::rowRect(const Row& row) const {
  if (m_content.speaker == Speaker::kUser && row.kind != RowKind::kFooter && row.kind != RowKind::kComparisons) {
    const QRectF box = bubble();
    return QRectF(box.left() + bubblePadding(), row.top, box.width() - 2 * bubblePadding(), row.height);
  }
  return QRectF(0, row.top, m_width, row.height);
}

QRectF MessageRows::textRect(const Row& row) const {
  QRectF rect = rowRect(row);
  if (isCode(row)) {
    const SourceBlock& block = m_splitter.blocks()[row.block];
    rect.adjust(codePadding(), block.continues ? 0 : codeHeaderHeight(), -codePadding(), -codePadding());
  }
  if (row.kind == RowKind::kThoughtText || row.kind == RowKind::kThoughtTail) rect.adjust(thoughtIndent(), 0, 0, 0);
  if (row.overflow > 0) rect.adjust(-row.sideways, 0, row.overflow - row.sideways, -sidewaysBarHeight());
  return rect;
}

void MessageRows::scrollSideways(std::size_t row, qreal by) {
  m_rows[row].sideways = std::clamp<qreal>(m_rows[row].sideways + by, 0, m_rows[row].overflow);
}

void MessageRows::toggle(Fold what) {
  bool& open = what == Fold::kThought ? m_thoughtOpen : m_errorDetails;
  open = !open;
  rebuildRows();
  place();
}

}  // namespace winnow::ui
