#include "app/words/folder_files.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <iterator>
#include <optional>

#include "app/words/format_text.h"
#include "app/words/media_names.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

std::optional<MediaKind> kindOfName(const QString& name) {
  if (namedAsPicture(name)) return MediaKind::kImage;
  if (namedAsVideo(name)) return MediaKind::kVideo;
  const bool paper = QDir::match(QString::fromLatin1(kPaperNames).split(QLatin1Char(' ')), name);
  return paper ? std::optional(MediaKind::kDocument) : std::nullopt;
}

}  // namespace

std::vector<FolderFile> filesIn(const QString& folder) {
  const QDir dir(folder);
  if (!dir.isReadable()) throw Exception(ErrorCode::kFileUnreadable, QFile::encodeName(folder).toStdString(), "the folder cannot be read");
  QStringList names = dir.entryList(QDir::Files);
  std::sort(names.begin(), names.end(), nameOrder());
  std::vector<FolderFile> files;
  for (const QString& name : names) {
    const std::optional<MediaKind> kind = kindOfName(name);
    if (!kind) continue;
    const QFileInfo file(dir.filePath(name));
    files.push_back({QFile::encodeName(file.filePath()), *kind, file.lastModified(), file.size()});
  }
  return files;
}

}  // namespace winnow::app
