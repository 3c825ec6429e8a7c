#include "ui/composer/offered_content.h"

#include <QFile>
#include <QRegularExpression>
#include <QTextDocumentFragment>
#include <algorithm>
#include <string>

#include "app/media/files/typed_path.h"

namespace winnow::ui {
namespace {

constexpr qsizetype kMostAddresses = qsizetype{64} * 1024;  // anything longer is a text

// "copy" or "cut", then addresses, one a line: file managers that offer no text/uri-list (Caja, Thunar). Older ones of GNOME have the same
// as text behind a line that names it.
QList<QUrl> copiedFiles(QString list) {
  static const QString kHeading = QStringLiteral("x-special/nautilus-clipboard\n");
  if (list.startsWith(kHeading)) list.remove(0, kHeading.size());
  const QString verb = list.section(u'\n', 0, 0);
  if (verb == u"copy" || verb == u"cut") list.remove(0, verb.size());
  QList<QUrl> urls;
  for (const std::string& path : app::fileAddresses(list.remove(QChar(u'\0')).toStdString()))
    urls.push_back(QUrl::fromLocalFile(QFile::decodeName(path.c_str())));
  return urls;
}

// Those that it names; else those of a text that is nothing but addresses of files that are there, as some programs copy them.
QList<QUrl> urlsOf(const QMimeData& mime) {
  if (mime.hasUrls()) return mime.urls();
  for (const char* const format : {"x-special/gnome-copied-files", "x-special/mate-copied-files"}) {
    const QByteArray list = mime.data(QLatin1String(format));
    if (!list.isEmpty() && list.size() <= kMostAddresses) return copiedFiles(QString::fromUtf8(list));
  }
  const QString text = mime.hasText() ? mime.text() : QString();
  return text.size() > kMostAddresses ? QList<QUrl>() : copiedFiles(text);
}

// The words of a web page's part; nothing of it is loaded.
QString wordsOf(const QString& html) {
  return QTextDocumentFragment::fromHtml(html).toPlainText().remove(QChar::ObjectReplacementCharacter).trimmed();
}

// An address, or a file's path.
bool isAddress(const QString& text) {
  static const QRegularExpression kAddress(QStringLiteral("\\A\\s*([a-z][a-z0-9+.-]*:\\S*|/[^\\n]*)\\s*\\z"),
                                           QRegularExpression::CaseInsensitiveOption);
  return kAddress.match(text).hasMatch();
}

}  // namespace

OfferedContent contentOf(const QMimeData& mime) {
  OfferedContent offered{.urls = urlsOf(mime)};
  if (std::ranges::any_of(offered.urls, &QUrl::isLocalFile)) {
    offered.kind = OfferedKind::kFiles;
    return offered;
  }
  const QString text = mime.hasText() ? mime.text() : QString();
  const bool words = mime.hasHtml() ? !wordsOf(mime.html()).isEmpty() : !text.trimmed().isEmpty() && !isAddress(text);
  if (mime.hasImage() && !words) {
    offered.kind = OfferedKind::kPicture;
    return offered;
  }
  offered.text = text.isEmpty() && mime.hasHtml() ? wordsOf(mime.html()) : text;
  if (!offered.text.isEmpty()) offered.kind = OfferedKind::kText;
  return offered;
}

}  // namespace winnow::ui
