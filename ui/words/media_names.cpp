#include "ui/words/media_names.h"

#include <QStringList>

#include "app/media/media_endings.h"

namespace winnow::ui {

using app::EndingOf;

QString mediaNames() {
  QStringList patterns;
  for (const app::MediaEnding& ending : app::kMediaEndings) {
    if (ending.of != EndingOf::kUnread) patterns.push_back(QLatin1Char('*') + QLatin1String(ending.text.data(), ending.text.size()));
  }
  return patterns.join(QLatin1Char(' '));
}

bool namedAsPicture(const QString& name) { return app::isNamedAs({EndingOf::kImage}, name.toStdString()); }
bool namedAsVideo(const QString& name) { return app::isNamedAs({EndingOf::kVideo, EndingOf::kVideoOrText}, name.toStdString()); }

}  // namespace winnow::ui
