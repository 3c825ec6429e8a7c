#include "app/words/watched_name.h"

#include <QCoreApplication>

#include "app/words/display_text.h"

namespace winnow::app {
namespace {

class WatchedName {
  Q_DECLARE_TR_FUNCTIONS(winnow::app::WatchedName)
};

}  // namespace

QString watchedName(const QString& address) {
  const QString shown = displayText(address).simplified();
  const QString screen = QStringLiteral("screen:");
  if (shown == screen) return WatchedName::tr("the screen");
  if (shown.startsWith(screen)) return WatchedName::tr("the screen %1").arg(shown.mid(screen.size()));
  if (shown.startsWith(QLatin1String("/dev/"))) return WatchedName::tr("the camera %1").arg(shown);
  return shown;
}

}  // namespace winnow::app
