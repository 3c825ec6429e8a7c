#include "ui/words/watch_fault_text.h"

#include <QCoreApplication>

#include "ui/words/display_text.h"

namespace winnow::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::ui::WatchFaultText", text); }

}  // namespace

ErrorText describeWatchFault(const Error& error, const QString& source) {
  ErrorText text = describeError(error);  // for the details, and for what has nothing to do with the source
  const QString name = displayText(source).simplified();
  switch (error.code) {
    case ErrorCode::kFileNotFound:
      text.cause = tr("“%1” is not there.").arg(name);
      text.remedy = tr("Check that it is connected and running, and that its address is right.");
      break;
    case ErrorCode::kFileUnreadable:
      text.cause = tr("“%1” cannot be opened.").arg(name);
      text.remedy = tr("Another program may be using it, or you may not have the right to.");
      break;
    case ErrorCode::kDeviceUnavailable:
      text.cause = tr("“%1” is not there.").arg(name);
      text.remedy = tr("There may be no such camera or screen, or another program may be using it.");
      break;
    case ErrorCode::kUnsupportedFormat:
      text.cause = tr("“%1” cannot be watched.").arg(name);
      text.remedy = tr("Winnow cannot read a source like this on this computer.");
      break;
    case ErrorCode::kDamagedFile:
      text.cause = tr("“%1” has sent what cannot be read.").arg(name);
      text.remedy = tr("Watch it again. If it happens again, let it send in another format.");
      break;
    case ErrorCode::kUnsupportedModel:
      text.cause = tr("The loaded model cannot watch a source.");
      text.remedy = tr("Choose another model.");
      break;
    case ErrorCode::kIllegalRecipe:
      text.cause = tr("What is chosen for the cache does not work for a source that is still running.");
      text.remedy = tr("Choose another method, or other options, and watch it again.");
      break;
    case ErrorCode::kContextFull:
      text.cause = tr("What is to be kept of the source does not fit into the model’s context.");
      text.remedy = tr("Watch it again and keep fewer slots.");
      break;
    default:
      break;
  }
  return text;
}

}  // namespace winnow::ui
