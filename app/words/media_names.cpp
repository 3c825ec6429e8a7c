#include "app/words/media_names.h"

#include <QStringList>

#include "app/media/files/media_endings.h"

namespace winnow::app {

QString mediaNames() {
  QStringList patterns;
  for (const MediaEnding& ending : kMediaEndings) {
    if (ending.of != EndingOf::kUnread) patterns.push_back(QLatin1Char('*') + QLatin1String(ending.text.data(), ending.text.size()));
  }
  return patterns.join(QLatin1Char(' '));
}

bool namedAsPicture(const QString& name) { return isNamedAs({EndingOf::kImage}, name.toStdString()); }
bool namedAsVideo(const QString& name) { return isNamedAs({EndingOf::kVideo, EndingOf::kVideoOrText}, name.toStdString()); }

}  // namespace winnow::app
