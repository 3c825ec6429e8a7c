#include "app/words/media_names.h"

#include <QStringList>

#include "app/media/files/media_endings.h"

namespace winnow::app {
namespace {

QString patternsOf(std::initializer_list<EndingOf> kinds) {
  QStringList patterns;
  for (const MediaEnding& ending : kMediaEndings) {
    if (std::ranges::find(kinds, ending.of) != kinds.end())
      patterns.push_back(QLatin1Char('*') + QLatin1String(ending.text.data(), ending.text.size()));
  }
  return patterns.join(QLatin1Char(' '));
}

}  // namespace

QString mediaNames() { return patternsOf({EndingOf::kImage, EndingOf::kVideo, EndingOf::kVideoOrText}); }
QString soundNames() { return patternsOf({EndingOf::kSound}); }

bool namedAsPicture(const QString& name) { return isNamedAs({EndingOf::kImage}, name.toStdString()); }
bool namedAsVideo(const QString& name) { return isNamedAs({EndingOf::kVideo, EndingOf::kVideoOrText}, name.toStdString()); }

}  // namespace winnow::app
