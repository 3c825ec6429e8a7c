#include "ui/words/media_names.h"

#include <QDir>

namespace winnow::ui {
namespace {

bool isOneOf(const QString& name, const char* patterns) {
  return QDir::match(QString::fromLatin1(patterns).split(QLatin1Char(' ')), name);  // whatever its case
}

}  // namespace

bool namedAsPicture(const QString& name) { return isOneOf(name, kPictureNames); }
bool namedAsVideo(const QString& name) { return isOneOf(name, kVideoNames); }

}  // namespace winnow::ui
