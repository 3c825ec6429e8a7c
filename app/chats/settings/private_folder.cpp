#include "app/chats/settings/private_folder.h"

#include <QFile>
#include <filesystem>
#include <system_error>

namespace winnow::app {
namespace {

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

void makePrivate(const AppFolders& folders) {
  for (const QString& folder : {folders.data, folders.cache, folders.state}) makePrivate(folder);
}

}  // namespace winnow::app
