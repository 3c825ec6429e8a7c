#include "app/media/papers/pdf_text.h"

#include <QPdfSelection>
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "app/media/papers/page_lines.h"
#include "app/media/papers/page_order.h"
#include "app/media/papers/pdf_file.h"

namespace winnow::app {
namespace {

using Clock = std::chrono::steady_clock;

// Parts times letters, of a page that is put together anew: each question to PDFium passes over all letters. Some seconds; a page of a book
// has a million. A denser one is read as it is drawn.
constexpr qsizetype kMostLooks = 40'000'000;

Script scriptOf(const QString& text) {
  const auto rightToLeft = std::ranges::count_if(text, isRightToLeft);
  return 2 * rightToLeft > std::ranges::count_if(text, [](QChar c) { return c.isLetter(); }) ? Script::kRightToLeft : Script::kLeftToRight;
}

QStringList linesOf(const QString& text, DrawnOrder drawn) {
  QStringList lines;
  for (const QString& line : text.split(u'\n')) {
    if (QString plain = plainLetters(line); !plain.isEmpty()) lines << logicalLine(plain, drawn);
  }
  return lines;
}

// PDFium puts some makers' right-to-left text into logical order, and not others'. The first word of three letters tells for its page, and
// the first word behind it in its line.
DrawnOrder drawnOrderOf(QPdfDocument& document, int page, const QString& text) {
  const auto left = [&](qsizetype at) { return document.getSelectionAtIndex(page, static_cast<int>(at), 1).boundingRectangle().left(); };
  qsizetype run = 0;
  for (qsizetype at = 0; at < text.size(); ++at) {
    run = isRightToLeft(text[at]) ? run + 1 : 0;
    if (run < 3) continue;
    if (left(at) < left(at - 1)) return DrawnOrder::kLogical;
    qsizetype next = at;
    while (next < text.size() && text[next] != u' ' && text[next] != u'\n') ++next;
    while (next < text.size() && text[next] != u'\n' && !isRightToLeft(text[next])) ++next;
    const bool line = next < text.size() && isRightToLeft(text[next]) && left(next) > left(at);
    return line ? DrawnOrder::kLine : DrawnOrder::kLetters;
  }
  return DrawnOrder::kLogical;
}

// The places at which the parts begin in the page's text. A part that PDFium does not find, or not behind the one before, begins where the
// next does: its letters go with the part before.
std::vector<qsizetype> beginsOf(QPdfDocument& document, int page, const std::vector<PagePart>& parts, qsizetype end) {
  std::vector<qsizetype> begins(parts.size() + 1, end);
  qsizetype next = end;
  for (std::size_t i = parts.size(); i-- > 0;) {
    const QPointF left(parts[i].place.left() + 1.0, parts[i].first.y());
    const QPointF right(parts[i].place.right() - 1.0, parts[i].last.y());
    const QPdfSelection found = document.getSelection(page, left, right);
    if (found.isValid() && found.startIndex() < next) next = found.startIndex();
    begins[i] = next;
  }
  if (!begins.empty()) begins.front() = 0;
  return begins;
}

QStringList readPage(QPdfDocument& document, int page) {
  const QPdfSelection all = document.getAllText(page);
  const QString text = all.text();
  std::vector<QRectF> pieces;
  for (const QPolygonF& piece : all.bounds()) pieces.push_back(piece.boundingRect());
  const std::vector<PagePart> parts = partsOf(pieces);
  const DrawnOrder drawn = drawnOrderOf(document, page, text);
  const std::vector<int> order = readingOrder(parts, scriptOf(text));
  if (std::ranges::is_sorted(order) || std::ssize(parts) * text.size() > kMostLooks) return linesOf(text, drawn);
  const std::vector<qsizetype> begins = beginsOf(document, page, parts, text.size());
  QString read;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto part = static_cast<std::size_t>(order[i]);
    const QStringView words = QStringView(text).mid(begins[part], begins[part + 1] - begins[part]).trimmed();
    if (words.isEmpty()) continue;
    const bool sameLine = i > 0 && order[i] == order[i - 1] + 1 && onOneLine(parts[part - 1].place, parts[part].place);
    if (!read.isEmpty()) read += sameLine ? u' ' : u'\n';
    read += words;
  }
  return linesOf(read, drawn);
}

}  // namespace

DocumentText readPdf(const MediaFile& file, const PageRange& range, const MediaLimits& limits, const InterruptToken& interrupt) {
  const auto end = Clock::now() + std::chrono::milliseconds(limits.decodeBudgetMs * 3 / 4);
  PdfFile pdf(file);
  const PdfFile::Range wanted = pdf.rangeOf(range);
  std::vector<QStringList> pages;
  std::int64_t letters = 0;
  for (int page = wanted.first; page < wanted.end && std::ssize(pages) < kMostPages && Clock::now() < end; ++page) {
    interrupt.throw_if_requested();
    QStringList lines = readPage(pdf.document(), page);
    for (const QString& line : lines) letters += line.size() + 1;
    if (letters > kDocumentBytes) break;
    pages.push_back(std::move(lines));
  }
  DocumentText read{.encoding = "UTF-8", .container = "pdf", .pages = pdf.pages()};
  if (std::ssize(pages) < wanted.end - wanted.first)
    read.notices.push_back({NoticeCode::kPartUnread, std::ssize(pages), wanted.end - wanted.first, "pages"});
  joinHyphens(pages);
  if (const int margins = leaveOutMargins(pages); margins > 0) read.notices.push_back({NoticeCode::kMarginsLeftOut, margins});
  const auto textless = std::ranges::count_if(pages, [](const QStringList& lines) { return lines.isEmpty(); });
  if (textless > 0) read.notices.push_back({NoticeCode::kPagesTextless, textless, std::ssize(pages)});
  const bool words = textless < std::ssize(pages);
  std::int32_t line = 0;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    read.pageLines.push_back(line);
    if (!words) continue;
    if (read.pages > 1) pages[i].prepend(QStringLiteral("[page %1]").arg(wanted.first + static_cast<int>(i) + 1));
    for (const QString& each : std::as_const(pages[i])) read.utf8 += each.toStdString() + "\n";
    line += static_cast<std::int32_t>(pages[i].size());
  }
  return read;
}

}  // namespace winnow::app
