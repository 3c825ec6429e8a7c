#include "app/library/downloads/package_index.h"

#include <utility>

namespace winnow::app {
namespace {

// The characters that an address in an attribute may have to write otherwise.
QString unescaped(QString text) {
  const std::pair<const char*, const char*> entities[] = {{"&quot;", "\""}, {"&#39;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities) text.replace(QLatin1String(entity), QLatin1String(character));
  return text;
}

}  // namespace

QUrl projectPage(const QString& index, const QString& project) {
  QUrl url(index, QUrl::StrictMode);
  QString path = url.path(QUrl::FullyEncoded);
  while (path.endsWith(QLatin1Char('/'))) path.chop(1);
  url.setPath(path + QLatin1Char('/') + project + QLatin1Char('/'));
  return url;
}

std::optional<IndexedFile> findFile(const QByteArray& page, const QUrl& pageAddress, const QString& name) {
  const QByteArray attribute = QByteArrayLiteral("href=");
  for (qsizetype at = page.indexOf(attribute); at >= 0; at = page.indexOf(attribute, at)) {
    at += attribute.size();
    const char quote = at < page.size() ? page[at] : '\0';
    if (quote != '"' && quote != '\'') continue;
    const qsizetype end = page.indexOf(quote, at + 1);
    if (end < 0) return std::nullopt;
    const QUrl link(unescaped(QString::fromUtf8(page.mid(at + 1, end - at - 1)).trimmed()), QUrl::StrictMode);
    at = end + 1;
    if (!link.isValid() || link.fileName() != name) continue;
    QUrl address = pageAddress.resolved(link);
    const QString fragment = address.fragment();
    IndexedFile file;
    const QLatin1String kind("sha256=");
    if (fragment.startsWith(kind)) file.sha256 = fragment.mid(kind.size()).toLower().toLatin1();
    address.setFragment(QString());
    file.address = address;
    return file;
  }
  return std::nullopt;
}

}  // namespace winnow::app
