#include "app/words/watch_fault_text.h"

#include <QCoreApplication>

#include "app/words/display_text.h"

namespace winnow::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::app::WatchFaultText", text); }

}  // namespace

ErrorText describeWatchFault(const Error& error, const QString& source) {
  ErrorText text = describeError(error);  // for the details, and for what has nothing to do with the source
  const QString name = displayText(source).simplified();
  switch (error.code) {
    case ErrorCode::kFileNotFound:
      text.cause = tr("“%1” cannot be found.").arg(name);
      text.remedy = tr("Check that it is connected and running, and that its address is right.");
      break;
    case ErrorCode::kFileUnreadable:
      text.cause = tr("“%1” cannot be opened.").arg(name);
      text.remedy = tr("Another program may be using it, or you may lack permission.");
      break;
    case ErrorCode::kDeviceUnavailable:
      text.cause = tr("“%1” cannot be found.").arg(name);
      text.remedy = tr("There may be no such camera or screen, or another program may be using it.");
      break;
    case ErrorCode::kUnsupportedFormat:
      text.cause = tr("“%1” cannot be watched.").arg(name);
      text.remedy = tr("Winnow cannot read a source like this on this computer.");
      break;
    case ErrorCode::kDamagedFile:
      text.cause = tr("“%1” sent data that Winnow cannot read.").arg(name);
      text.remedy = tr("Watch it again. If it happens again, use another format for it.");
      break;
    case ErrorCode::kUnsupportedModel:
      text.cause = tr("The loaded model cannot watch a source.");
      text.remedy = tr("Choose another model.");
      break;
    case ErrorCode::kIllegalRecipe:
      text.cause = tr("This cache method does not work with a live source.");
      text.remedy = tr("Choose another method or other options, then watch it again.");
      break;
    case ErrorCode::kContextFull:
      text.cause = tr("The source’s cache limit is longer than the model can read.");
      text.remedy = tr("Keep less of it, then watch it again.");
      break;
    default:
      break;
  }
  return text;
}

}  // namespace winnow::app
