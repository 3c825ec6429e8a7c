#include "app/chats/settings/app_folders.h"

#include <QDir>
#include <QStandardPaths>

#include "app/ground/process/path_variable.h"

namespace winnow::app {

namespace {

QString inWinnow(const QString& base) { return QDir::cleanPath(base + QStringLiteral("/winnow")); }

// Qt 6.4 has no state location.
QString stateBase() {
  const QString fromEnvironment = pathVariable("XDG_STATE_HOME");
  if (!fromEnvironment.isEmpty()) return fromEnvironment;
#ifdef Q_OS_UNIX
  return QDir::homePath() + QStringLiteral("/.local/state");
#else
  return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
#endif
}

}  // namespace

AppFolders AppFolders::under(const QString& home) {
  const QString base = QDir::cleanPath(QDir(home).absolutePath());
  return {base + QStringLiteral("/data"), base + QStringLiteral("/cache"), base + QStringLiteral("/state")};
}

AppFolders AppFolders::standard() {
  const QString home = qEnvironmentVariable("WINNOW_HOME");
  if (!home.isEmpty()) return under(home);
  return {inWinnow(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation)),
          inWinnow(QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation)), inWinnow(stateBase())};
}

}  // namespace winnow::app
