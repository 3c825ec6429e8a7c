// One block of a message as a laid-out QTextDocument: built lazily, thrown away when far from the viewport.
//
// Used by the transcript only. The document can load nothing: every resource request is refused. Positions are character positions of
// the document; sizes logical pixels. UI thread only.
#pragma once

#include <QColor>
#include <QTextBlockFormat>
#include <QTextDocument>
#include <algorithm>

#include "ui/chat_view/document_formulas.h"
#include "ui/chat_view/mark_places.h"
#include "ui/chat_view/markdown_parser.h"
#include "ui/chat_view/place_links.h"
#include "ui/chat_view/table_columns.h"

class QPainter;

namespace winnow::ui {

enum class BlockStyle : int { kMarkdown = 1, kPlain = 2, kCode = 3, kThought = 4 };

// The title in the head of a code listing.
QString listingTitle(const QString& language);

class BlockDocument {
 public:
  // `source`: Markdown, plain text (a user's message), the text of a code listing, or what a model thought. surroundings: of a listing its
  // language, of Markdown the places that are links.
  struct Surroundings {
    QString language;
    LinkedPlaces places;
  };
  BlockDocument(QStringView source, BlockStyle style, const Surroundings& surroundings);
  BlockDocument(QStringView source, BlockStyle style) : BlockDocument(source, style, Surroundings()) {}

  void setWidth(qreal width);
  // How much wider it is than that, because of a table or a formula: to be scrolled sideways.
  qreal overflow() const { return std::max<qreal>(0, m_document.textWidth() - m_width); }
  qreal height() const { return m_document.size().height(); }
  qreal idealWidth() const { return m_document.idealWidth(); }

  // Marks of the source, ascending; replaces none that were set before: set once.
  void setMarks(QStringView source, const std::vector<TextMark>& marks);
  // The mark under the point, as an index into the marks set; none: -1.
  int markAt(const QPointF& point) const;
  QRectF markRect(int mark) const;  // as rectOf(); empty: not shown

  // Characters [from, to) on a ground of their own; the later ones of those given count where they meet.
  struct Tint {
    int from = 0;
    int to = 0;
    QColor ground;
    QColor text{};  // invalid: as it is
  };
  void paint(QPainter& painter, const QRectF& clip, const std::vector<Tint>& tints);
  // The places of words, [from, to) each, not overlapping. Case does not matter, a line's end counts as a space.
  std::vector<std::pair<int, int>> placesOf(const QString& words) const;
  std::vector<QRectF> rectsOf(int from, int to) const;  // one a line; words of one paragraph
  QRectF rectOf(int from, int to) const;                // of its first line
  int positionAt(const QPointF& point) const;
  QUrl linkAt(const QPointF& point) const;
  QString formulaAt(const QPointF& point) const;  // its source; empty: none
  struct Link {
    QUrl address;
    int from = 0;
    int to = 0;
  };
  std::vector<Link> links() const;
  // Listings within Markdown, in lists and quotations: their frames, whose heads have room for a word and a button.
  struct Listing {
    QRectF frame;
    QString language;
  };
  std::vector<Listing> listings() const;
  int length() const { return m_document.characterCount() - 1; }
  QString textBetween(int from, int to) const;
  void wordAround(int position, int& from, int& to) const;

  // How many documents exist, and how often any document asked for a resource (always refused).
  static int alive();
  static int refusedResources();

 private:
  class Document : public QTextDocument {
   public:
    Document();
    ~Document() override;

   protected:
    QVariant loadResource(int type, const QUrl& name) override;
  };

  void buildMarkdown(QStringView source, const LinkedPlaces& places);
  QTextBlockFormat listingFormat(const Block& block, QTextBlockFormat format);
  QRectF listingFrame(const QTextBlock& block) const;
  void paintListings(QPainter& painter);
  void paintQuoteBars(QPainter& painter);

  Document m_document;
  DocumentFormulas m_formulas{m_document};
  std::vector<MarkPlace> m_marks;
  std::vector<TableColumns> m_tables;
  std::vector<QString> m_listings;  // their languages, in the document's order
  qreal m_width = 0;                // asked for
};

}  // namespace winnow::ui
