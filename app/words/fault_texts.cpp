#include "app/words/fault_texts.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

#include "app/words/display_text.h"
#include "app/words/library_words.h"

namespace winnow::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::app::FaultTexts", text); }

// The name as people know it: a path's last part, with or without a slash at its end, or what the program that keeps it calls it.
QString nameOf(const QString& path) { return displayText(modelLabel(path)).simplified(); }
QString fileNameOf(const QString& path) { return displayText(QFileInfo(QDir::cleanPath(path)).fileName()).simplified(); }

void setWords(ErrorText& text, const QString& cause, const QString& remedy) {
  text.cause = cause;
  text.remedy = remedy;
}

template <class Fault>
struct FaultWords {
  Fault fault;
  const char* cause;  // %1, if there: whose fault it is
  const char* remedy;
};

#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::FaultTexts", text)

constexpr FaultWords<FolderFault> kFolderFaults[] = {
    {FolderFault::kFileInTheWay, SAY("Your chats cannot be saved: “%1” is a file, and Winnow needs a folder there."),
     SAY("Move or rename the file, then try again.")},
    {FolderFault::kNotPermitted, SAY("Your chats cannot be saved: Winnow may not write to “%1”."),
     SAY("Allow writing there, then try again.")},
    {FolderFault::kReadOnlyDisk, SAY("Your chats cannot be saved: “%1” is on a disk that can only be read."),
     SAY("Make the disk writable and try again, or set WINNOW_HOME to a folder elsewhere and start Winnow again.")},
    {FolderFault::kNameTooLong, SAY("Your chats cannot be saved: the path of their folder is too long. It begins with “%1”."),
     SAY("Set WINNOW_HOME to a shorter path, then start Winnow again.")},
    {FolderFault::kNotPossible, SAY("Your chats cannot be saved: no folder can be made in “%1”."),
     SAY("Check HOME, or set WINNOW_HOME to another folder, then start Winnow again.")},
};
constexpr FaultWords<ErrorCode> kWatchFaults[] = {
    {ErrorCode::kFileNotFound, SAY("“%1” cannot be found."), SAY("Check that it is connected and running, and that its address is right.")},
    {ErrorCode::kFileUnreadable, SAY("“%1” cannot be opened."), SAY("Another program may be using it, or you may lack permission.")},
    {ErrorCode::kDeviceUnavailable, SAY("“%1” cannot be found."),
     SAY("There may be no such camera or screen, or another program may be using it.")},
    {ErrorCode::kUnsupportedFormat, SAY("“%1” cannot be watched."), SAY("Winnow cannot read a source like this on this computer.")},
    {ErrorCode::kDamagedFile, SAY("“%1” sent data that Winnow cannot read."),
     SAY("Watch it again. If it happens again, use another format for it.")},
    {ErrorCode::kUnsupportedModel, SAY("The loaded model cannot watch a source."), SAY("Choose another model.")},
    {ErrorCode::kIllegalRecipe, SAY("This cache method does not work with a live source."),
     SAY("Choose another method or other options, then watch it again.")},
    {ErrorCode::kContextFull, SAY("The source’s cache limit is longer than the model can read."),
     SAY("Keep less of it, then watch it again.")},
};

#undef SAY

// A fault without a row keeps the words that are there.
template <class Fault, std::size_t kRows>
void say(const FaultWords<Fault> (&rows)[kRows], Fault fault, const QString& name, ErrorText& text) {
  for (const FaultWords<Fault>& row : rows) {
    if (row.fault != fault) continue;
    const QString cause = tr(row.cause);
    setWords(text, cause.contains(QLatin1String("%1")) ? cause.arg(name) : cause, tr(row.remedy));
  }
}

}  // namespace

ErrorText describeMissingDemo() {
  ErrorText text;
  setWords(text, tr("The bundled demo model is missing."), tr("Reinstall Winnow, or choose another model."));
  return text;
}

ErrorText describeModelFault(const Error& error, const QString& path, bool bundled) {
  ErrorText text = describeError(error);  // for the details, and for what has nothing to do with the model
  const QString subject = QString::fromStdString(error.subject);
  const QString model = nameOf(path), file = fileNameOf(subject);
  const bool itself = subject.isEmpty() || QDir::cleanPath(subject) == QDir::cleanPath(path);  // a GGUF file is all there is of it
  const QString whole = tr("Copy or download the whole model again.");
  const bool missing =
      error.code == ErrorCode::kModelFolderMissing || error.code == ErrorCode::kNoModel || error.code == ErrorCode::kModelFileMissing;
  if (missing && bundled) {
    const ErrorText demo = describeMissingDemo();
    setWords(text, demo.cause, demo.remedy);
  } else if (error.code == ErrorCode::kModelFolderMissing) {
    setWords(text, tr("The model “%1” cannot be found.").arg(model),
             tr("It may have been moved, or its disk is not connected. Choose its new place."));
  } else if (error.code == ErrorCode::kNoModel) {
    setWords(text, tr("“%1” is not a model: neither a GGUF file nor a folder with config.json.").arg(fileNameOf(path)),
             tr("Winnow opens GGUF files, and folders from Hugging Face: config.json, tokenizer.json and *.safetensors."));
  } else if (error.code == ErrorCode::kNotFetched) {
    setWords(text,
             itself ? tr("“%1” is not the model file itself.").arg(model)
                    : tr("“%2” of the model “%1” is not the file itself.").arg(model, file),
             tr("It is empty, unfinished, a web page or a Git LFS pointer. Download the file itself."));
  } else if (error.code == ErrorCode::kArchive) {
    setWords(text, tr("“%1” is an archive.").arg(fileNameOf(path)), tr("Unpack it, then choose the model in it."));
  } else if (error.code == ErrorCode::kModelInside) {
    setWords(text, tr("“%1” is not a model, but “%2” in it is.").arg(fileNameOf(path), file), tr("Choose that one."));
  } else if (error.code == ErrorCode::kModelFileMissing || error.code == ErrorCode::kFileNotFound) {
    setWords(text, tr("The model “%1” is not complete: “%2” is missing.").arg(model, file), whole);
  } else if (error.code == ErrorCode::kFileUnreadable) {
    setWords(text, itself ? tr("The model “%1” cannot be read.").arg(model) : tr("“%2” of the model “%1” cannot be read.").arg(model, file),
             tr("Check that you have permission to read its files."));
  } else if (error.code == ErrorCode::kDamagedFile) {
    setWords(text,
             itself ? tr("The model “%1” is damaged or incomplete.").arg(model)
                    : tr("“%2” of the model “%1” is damaged or incomplete.").arg(model, file),
             whole);
  } else if (error.code == ErrorCode::kUnsupportedModel) {
    setWords(text, tr("The model “%1” is of a kind that Winnow cannot run yet.").arg(model),
             tr("Choose another one: Model > Models… offers some that run."));
  } else if (error.code == ErrorCode::kModelFormat || error.code == ErrorCode::kUnsupportedFormat) {
    setWords(text,
             itself ? tr("The model “%1” is in a format that Winnow does not open.").arg(model)
                    : tr("“%2” of the model “%1” is in a format that Winnow does not open.").arg(model, file),
             tr("Use a GGUF file, or *.safetensors in bf16, fp16 or fp32."));
  } else if (error.code == ErrorCode::kLimitExceeded) {
    setWords(text,
             itself ? tr("The model “%1” is larger than Winnow accepts.").arg(model)
                    : tr("“%2” of the model “%1” is larger than Winnow accepts.").arg(model, file),
             whole);
  } else if (error.code == ErrorCode::kOutOfMemory) {
    setWords(text, tr("There is not enough memory to load the model “%1”.").arg(model),
             tr("Choose a smaller model, or close other programs and try again."));
  } else if (error.code == ErrorCode::kInvalidArgument) {
    setWords(text, tr("The model “%1” cannot be loaded with these settings.").arg(model), tr("Choose another model or another device."));
  } else if (error.code == ErrorCode::kDeviceFailed) {
    text.remedy = tr("Try again, or load the model on the CPU.");  // no chat is concerned
  } else if (error.code == ErrorCode::kInternal) {
    text.remedy = tr("Try again. If it happens again, please report it with the details.");  // no chat is concerned
  }
  return text;
}

ErrorText describeFolderFault(const FolderState& folder, const Error& error) {
  ErrorText text = describeError(error);  // for the details, and for a full disk
  say(kFolderFaults, folder.fault, displayText(QDir::toNativeSeparators(folder.path)).simplified(), text);
  return text;
}

ErrorText describeWatchFault(const Error& error, const QString& source) {
  ErrorText text = describeError(error);  // for the details, and for what has nothing to do with the source
  say(kWatchFaults, error.code, displayText(source).simplified(), text);
  return text;
}

}  // namespace winnow::app
