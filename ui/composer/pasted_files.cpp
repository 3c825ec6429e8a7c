#include "ui/composer/pasted_files.h"

#include <QFile>
#include <string>

#include "app/media/files/typed_path.h"

namespace winnow::ui {
namespace {

constexpr qsizetype kMostText = qsizetype{64} * 1024;  // of addresses; anything longer is a text

}  // namespace

QList<QUrl> pastedUrls(const QMimeData& mime) {
  if (mime.hasUrls() || !mime.hasText()) return mime.urls();
  const QString text = mime.text();
  QList<QUrl> urls;
  if (text.size() > kMostText) return urls;
  for (const std::string& path : app::fileAddresses(text.toStdString()))
    urls.push_back(QUrl::fromLocalFile(QFile::decodeName(path.c_str())));
  return urls;
}

}  // namespace winnow::ui
