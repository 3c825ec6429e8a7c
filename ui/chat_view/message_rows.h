// One message as a column of rows, each measured only when it comes near the viewport.
//
// Used by transcript_view only. A row is a role label, the attachments, the line of a thought, one block of it or of the text, the phase
// line, an error card or the footer.
// Heights not yet measured are estimated from the number of characters. Owns the lazily made block documents. All coordinates are
// relative to the message's top left corner, in logical pixels. UI thread only.
#pragma once

#include <QFont>
#include <QRectF>
#include <memory>
#include <vector>

#include "ui/chat_view/block_document.h"
#include "ui/chat_view/markdown_splitter.h"
#include "ui/chat_view/message_content.h"

namespace winnow::ui {

enum class RowKind : int {
  kRole = 1,
  kAttachments,
  kThought,
  kThoughtTail,
  kThoughtText,
  kText,
  kPhase,
  kError,
  kQuotes,
  kNote,
  kFooter,
  kComparisons
};

// The parts that are shown on demand only.
enum class Fold : int { kErrorDetails = 1, kThought = 2 };

struct Row {
  RowKind kind = RowKind::kText;
  std::size_t block = 0;  // of a row of text or of a thought
  qreal top = 0;          // of the row's box, without the gap above
  qreal height = 0;
  bool measured = false;
  qreal overflow = 0;  // of its document, beyond the column: a wide table
  qreal sideways = 0;  // how far it is scrolled
  std::unique_ptr<BlockDocument> document{};

  bool hasDocument() const { return kind == RowKind::kText || kind == RowKind::kThoughtText; }
};

class MessageRows {
 public:
  explicit MessageRows(MessageContent content);

  const MessageContent& content() const { return m_content; }
  void update(MessageContent content);           // everything but the text may differ cheaply; a changed text is split anew
  void append(QStringView delta, RowKind kind);  // to the text, or to the thought before it
  void setPhase(const QString& phase, double share);
  void setMarks(std::vector<TextMark> marks);  // only blocks whose marks differ are made anew

  // Lays out for a column of this width. Text rows keep their estimate until measureRows() reaches them.
  void layout(qreal width);
  void invalidate();  // fonts or colours changed
  // Builds the documents of text rows that meet [top, bottom]; returns true when the height of any row changed.
  bool measureRows(qreal top, qreal bottom);
  // Drops documents of rows entirely outside [top, bottom].
  void releaseOutside(qreal top, qreal bottom);

  qreal height() const { return m_height; }
  const std::vector<Row>& rows() const { return m_rows; }
  const MarkdownSplitter& splitter() const { return m_splitter; }
  bool isCode(const Row& row) const;
  BlockStyle styleOf(const Row& row) const;
  qreal innerWidth() const;               // of the text and the attachments
  QRectF bubble() const;                  // of a user's message; empty otherwise
  QRectF rowRect(const Row& row) const;   // box of the row
  QRectF textRect(const Row& row) const;  // where the document is painted
  void scrollSideways(std::size_t row, qreal by);
  bool open(Fold what) const { return what == Fold::kThought ? m_thoughtOpen : m_errorDetails; }
  void toggle(Fold what);
  std::unique_ptr<BlockDocument> makeDocument(const Row& row) const;
  // The marks of a text row: [first, last) of content().marks.
  std::pair<std::size_t, std::size_t> marksOf(const Row& row) const;

  // Times a block was turned into a document, over all messages: the tests hold re-parsing to the tail with it.
  static int documentsBuilt();

 private:
  void rebuildRows();
  void addBlocks(RowKind kind, const MarkdownSplitter& splitter, std::vector<Row>& known);
  void forgetBlocks(RowKind kind, std::size_t first);  // their text has changed from this one on
  const SourceBlock& blockOf(const Row& row) const {
    return (row.kind == RowKind::kThoughtText ? m_thought : m_splitter).blocks()[row.block];
  }
  std::vector<TextMark> marksWithin(const Row& row) const;
  void place();
  void fitToBubble();
  qreal gapAbove(std::size_t index) const;
  qreal measureFixed(const Row& row) const;
  qreal estimate(const Row& row) const;
  qreal documentWidth(const Row& row) const;

  MessageContent m_content;
  MarkdownSplitter m_splitter;
  MarkdownSplitter m_thought;
  std::vector<Row> m_rows;
  qreal m_width = 0;
  qreal m_height = 0;
  qreal m_bubbleWidth = 0;
  bool m_errorDetails = false;
  bool m_thoughtOpen = false;
};

}  // namespace winnow::ui
