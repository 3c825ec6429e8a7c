#include "app/words/folder_fault_text.h"

#include <QCoreApplication>
#include <QDir>

#include "app/words/display_text.h"

namespace winnow::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::app::FolderFaultText", text); }

}  // namespace

ErrorText describeFolderFault(const FolderState& folder, const Error& error) {
  ErrorText text = describeError(error);
  const QString path = displayText(QDir::toNativeSeparators(folder.path)).simplified();
  const auto say = [&](const QString& cause, const QString& remedy) {
    text.cause = cause.arg(path);
    text.remedy = remedy;
  };
  switch (folder.fault) {
    case FolderFault::kFileInTheWay:
      say(tr("Your chats cannot be saved: “%1” is a file, and Winnow needs a folder there."),
          tr("Move or rename the file, then try again."));
      break;
    case FolderFault::kNotPermitted:
      say(tr("Your chats cannot be saved: Winnow may not write to “%1”."), tr("Allow writing there, then try again."));
      break;
    case FolderFault::kReadOnlyDisk:
      say(tr("Your chats cannot be saved: “%1” is on a disk that can only be read."),
          tr("Make the disk writable and try again, or set WINNOW_HOME to a folder elsewhere and start Winnow again."));
      break;
    case FolderFault::kNameTooLong:
      say(tr("Your chats cannot be saved: the path of their folder is too long. It begins with “%1”."),
          tr("Set WINNOW_HOME to a shorter path, then start Winnow again."));
      break;
    case FolderFault::kNotPossible:
      say(tr("Your chats cannot be saved: no folder can be made in “%1”."),
          tr("Check HOME, or set WINNOW_HOME to another folder, then start Winnow again."));
      break;
    case FolderFault::kDiskFull:  // as an error tells it
    case FolderFault::kNone:
      break;
  }
  return text;
}

}  // namespace winnow::app
