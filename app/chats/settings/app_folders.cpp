#include "app/chats/settings/app_folders.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <filesystem>
#include <system_error>

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

namespace fs = std::filesystem;

constexpr fs::perms kOthers = fs::perms::group_all | fs::perms::others_all;

void makePrivate(const QString& folder) {
  std::error_code ignored;
  const fs::path root = QFile::encodeName(folder).toStdString();
  const fs::file_status status = fs::status(root, ignored);
  if (status.type() != fs::file_type::directory || (status.permissions() & kOthers) == fs::perms::none) return;
  // From the inside out: a walk that is cut off is taken up by the next start.
  for (fs::recursive_directory_iterator entry(root, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    std::error_code kept;
    const fs::file_type type = entry->symlink_status(kept).type();
    if (type != fs::file_type::regular && type != fs::file_type::directory) continue;
    fs::permissions(entry->path(), kOthers, fs::perm_options::remove | fs::perm_options::nofollow, kept);
  }
  fs::permissions(root, kOthers, fs::perm_options::remove, ignored);
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

void makePrivate(const AppFolders& folders) {
  for (const QString& folder : {folders.data, folders.cache, folders.state}) makePrivate(folder);
}

}  // namespace winnow::app
