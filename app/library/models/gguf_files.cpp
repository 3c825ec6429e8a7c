#include "app/library/models/gguf_files.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>

#include "engine/api/model_kinds.h"

namespace winnow::app {
namespace {

constexpr int kMaxParts = 1000;

}  // namespace

QStringList ggufParts(const QString& path) {
  static const QRegularExpression part(QStringLiteral("-(\\d{5})-of-(\\d{5})\\.gguf$"));
  const QRegularExpressionMatch match = part.match(path);
  if (!match.hasMatch()) return {path};
  const int count = match.captured(2).toInt();
  if (match.captured(1).toInt() != 1 || count > kMaxParts) return {};
  QStringList parts;
  for (int i = 1; i <= count; ++i) {
    const QString number = QStringLiteral("-%1-of-%2.gguf").arg(i, 5, 10, QLatin1Char('0')).arg(match.captured(2));
    parts << path.left(match.capturedStart()) + number;
  }
  return parts;
}

QStringList projectorsBeside(const QString& path) {
  QStringList projectors;
  const QDir folder = QFileInfo(path).dir();
  for (const QString& name : folder.entryList({QStringLiteral("*.gguf")}, QDir::Files)) {
    if (names_projector(name.toStdString())) projectors << folder.filePath(name);
  }
  return projectors;
}

}  // namespace winnow::app
