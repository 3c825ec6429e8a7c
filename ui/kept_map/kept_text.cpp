#include "ui/kept_map/kept_text.h"

#include <QBuffer>
#include <QMimeData>
#include <QPageSize>
#include <QPdfWriter>
#include <QTextCursor>
#include <QTextDocument>

#include "ui/theme/ramp.h"

namespace winnow::ui {
namespace {

constexpr int kDotsPerInch = 300;
constexpr double kTitlePoints = 13.0;
constexpr double kPoints = 9.5;

void write(QTextDocument& document, const QString& title, const std::vector<KeptToken>& tokens) {
  QFont font;
  font.setPointSizeF(kPoints);
  document.setDefaultFont(font);
  QTextCursor cursor(&document);
  if (!title.isEmpty()) {
    QTextCharFormat heading;
    heading.setFontPointSize(kTitlePoints);
    heading.setForeground(Qt::black);
    cursor.insertText(title, heading);
    cursor.insertBlock();
  }
  for (const KeptToken& token : tokens) {
    QTextCharFormat format;
    if (token.kept > 0.0) {
      const QColor ground = shareColorOnPaper(token.kept);
      format.setBackground(ground);
      format.setForeground(inkOn(ground));
    } else {
      format.setFontStrikeOut(true);
      format.setForeground(QColor(0x6b, 0x70, 0x76));
    }
    cursor.insertText(token.text, format);
  }
}

}  // namespace

QMimeData* keptTextMime(const std::vector<KeptToken>& tokens) {
  QTextDocument document;
  write(document, {}, tokens);
  QString plain;
  for (const KeptToken& token : tokens) plain += token.text;
  auto* mime = new QMimeData;
  mime->setHtml(document.toHtml());
  mime->setText(plain);
  return mime;
}

QByteArray keptTextHtml(const QString& title, const std::vector<KeptToken>& tokens) {
  QTextDocument document;
  document.setMetaInformation(QTextDocument::DocumentTitle, title);
  write(document, title, tokens);
  return document.toHtml().toUtf8();
}

QByteArray keptTextPdf(const QString& title, const std::vector<KeptToken>& tokens) {
  QTextDocument document;
  write(document, title, tokens);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setResolution(kDotsPerInch);
    writer.setTitle(title);
    document.print(&writer);
  }
  return bytes;
}

}  // namespace winnow::ui
