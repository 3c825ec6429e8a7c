#include "app/words/error_text.h"

#include <QCoreApplication>
#include <QFileInfo>

#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/media_names.h"

namespace winnow::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::app::ErrorText", text); }

struct CodeText {
  ErrorCode code;
  const char* name;        // for the details line, English
  const char* causeNamed;  // %1: file name or subject
  const char* causeUnnamed;
  const char* remedy;
};

constexpr CodeText kTexts[] = {
    {ErrorCode::kInvalidArgument, "invalid argument", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” has an invalid value."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This request has an invalid value."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Change the frames, the time range or the method, then try again.")},
    {ErrorCode::kFileNotFound, "file not found", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” cannot be found."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A file cannot be found."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText",
                       "It may have been moved, renamed or deleted. Put it back, or attach it again from its new place.")},
    {ErrorCode::kFileUnreadable, "file unreadable", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” cannot be read."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A file cannot be read."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Check that it is a file and that you have permission to read it.")},
    {ErrorCode::kFileUnwritable, "file unwritable", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” cannot be written."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A file cannot be written."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Check that the disk has room and that you have permission to write there.")},
    {ErrorCode::kUnsupportedFormat, "unsupported format",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is in a format that Winnow does not open."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This format is not supported."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText",
                       "Images: PNG, JPEG, WebP, HEIC, AVIF, BMP, GIF. Videos: MP4, WebM, MKV, MOV, AVI. Documents: PDF, DOCX, ODT, XLSX, "
                       "EPUB, HTML and plain text of any kind.")},
    {ErrorCode::kDamagedFile, "damaged file", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is damaged or incomplete."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A file is damaged or incomplete."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Copy or download it again. If it plays elsewhere, re-encoding it usually helps.")},
    {ErrorCode::kLimitExceeded, "limit exceeded", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is larger than Winnow accepts."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This is larger than Winnow accepts."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Use a smaller image, a shorter text or range, or fewer frames.")},
    {ErrorCode::kUnsupportedModel, "unsupported model",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The model “%1” is of a kind that Winnow cannot run yet."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This model is of a kind that Winnow cannot run yet."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Choose another one, or the bundled demo model.")},
    {ErrorCode::kContextFull, "context full", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This chat is longer than the model can read."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This chat is longer than the model can read."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Nothing was cut off. Ask with less text or fewer frames, or start a new chat.")},
    {ErrorCode::kOutOfMemory, "out of memory", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "There was not enough memory for this answer."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "There was not enough memory for this answer."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText",
                       "Your chat is saved. Use fewer frames or a smaller share to keep, or close other programs.")},
    {ErrorCode::kDeviceUnavailable, "device unavailable",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The device “%1” is not available here."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The chosen device is not available here."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Load the model on the CPU instead.")},
    {ErrorCode::kDeviceFailed, "device failed", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The graphics processor stopped working."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The graphics processor stopped working."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Ask again: the engine starts anew. If it stops again, load the model on the CPU.")},
    {ErrorCode::kNumericFailure, "numeric failure",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The model’s calculation went out of range."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The model’s calculation went out of range."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The weights may be damaged, or need more precision. Load the model in 32 bits.")},
    {ErrorCode::kIllegalRecipe, "illegal recipe",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The cache method “%1” cannot be used like this."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This cache method cannot be used like this."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Choose another method, or keep everything.")},
    {ErrorCode::kStorage, "storage", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The chats could not be saved or read."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The chats could not be saved or read."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Try again. If it happens again, the details show the reason.")},
    {ErrorCode::kStorageDamaged, "storage damaged", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Your chats file “%1” is damaged."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Your chats file is damaged."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText",
                       "Nothing in it was changed. Start with an empty list or with a backup: the file is kept under another name.")},
    {ErrorCode::kStorageNewer, "storage newer",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Your chats in “%1” were saved by a newer version of Winnow."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Your chats were saved by a newer version of Winnow."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Nothing was changed. Update Winnow to see them again.")},
    {ErrorCode::kStorageInUse, "storage in use", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Another program is using your chats."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Another program is using your chats."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "It may be another Winnow. Close it, then try again.")},
    {ErrorCode::kStorageReadOnly, "storage read-only",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Your chats cannot be saved: Winnow may not write to “%1”."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Your chats cannot be saved: Winnow may not write to their folder."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Allow writing there, then try again.")},
    {ErrorCode::kStorageFull, "storage full", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The disk is full: nothing more can be saved."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The disk is full: nothing more can be saved."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "What was saved before is safe. Make some room, then try again.")},
    {ErrorCode::kModelFolderMissing, "model folder missing", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The model “%1” cannot be found."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The model cannot be found."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "It may have been moved, or its disk is not connected. Choose its new place.")},
    {ErrorCode::kNoModel, "no model", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is not a model."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This is not a model."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Choose a GGUF file, or a model’s folder from Hugging Face.")},
    {ErrorCode::kModelInside, "model inside", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The model is “%1” inside the chosen folder."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The model is inside the chosen folder."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Choose that one.")},
    {ErrorCode::kNotFetched, "not fetched", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is not the file itself."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A file is not the file itself."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "It is empty, unfinished, a web page or a Git LFS pointer. Download the file itself.")},
    {ErrorCode::kArchive, "archive", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is an archive."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This is an archive."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Unpack it, then choose the file in it.")},
    {ErrorCode::kModelFormat, "model format",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The weights “%1” are in a format that Winnow does not open."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The weights are in a format that Winnow does not open."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Use *.safetensors in bf16, fp16 or fp32, or a GGUF file.")},
    {ErrorCode::kCacheOutdated, "stored conversation outdated",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "What was saved of this chat does not match “%1”."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "What was saved of this chat no longer matches."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The whole chat is read again with your next question.")},
    {ErrorCode::kModelReadsText, "model reads text",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This model reads text only: it cannot look at “%1”."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This model reads text only: it cannot look at images and videos."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Choose a model that reads images under Model, or ask without the attachments.")},
    {ErrorCode::kModelReadsImages, "model reads images",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This model reads images, but no videos: it cannot look at “%1”."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This model reads images, but no videos."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Choose a model that reads videos under Model, or ask without the video.")},
    {ErrorCode::kMediaChanged, "media changed", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is not the file that was attached."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A file is not the one that was attached."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText",
                       "It has changed since. Put the old file back, or edit the question to ask about the new one.")},
    {ErrorCode::kModelFileChanged, "model file changed",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Another program changed the model’s file “%1” while it was loaded."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Another program changed the model’s file while it was loaded."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Your chat is saved. Choose the model again in the Model menu, then ask again.")},
    {ErrorCode::kEngineCrashed, "engine crashed", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The engine stopped unexpectedly."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The engine stopped unexpectedly."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Ask again: the engine starts anew.")},
    {ErrorCode::kEngineOutOfMemory, "engine out of memory",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The engine stopped: out of memory."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The engine stopped: out of memory."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Use fewer frames, a smaller model or a smaller share to keep, or close other programs.")},
    {ErrorCode::kEngineSilent, "engine silent", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The engine did not react and was ended."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The engine did not react and was ended."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Ask again: the engine starts anew.")},
    {ErrorCode::kMediaCrashed, "media reader crashed",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Reading “%1” failed: the program that reads it stopped."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Reading a file failed: the program that reads it stopped."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText",
                       "The file may be damaged. Other files can be attached; this one may help when it is converted.")},
    {ErrorCode::kEmptyFile, "empty file", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is empty."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A file is empty."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Copy or download it again.")},
    {ErrorCode::kPasswordNeeded, "password needed", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is encrypted and needs a password."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A document is encrypted and needs a password."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Save a copy without a password, or: qpdf --password=PASSWORD --decrypt FILE NEW.pdf")},
    {ErrorCode::kNoTextInPages, "no text in pages",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” has no text: its pages are pictures, probably scans."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A document has no text: its pages are pictures, probably scans."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Choose a model that sees under Model, and ask about its pages as pictures.")},
    {ErrorCode::kModelFileMissing, "model file missing", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The model lacks its file “%1”."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The model lacks a file."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Copy or download the whole model again.")},
    {ErrorCode::kServerUnreachable, "server unreachable", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The server “%1” cannot be reached."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The server cannot be reached."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Check the address, that the server runs and that the network is up, then try again.")},
    {ErrorCode::kServerUntrusted, "server untrusted",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” cannot prove that it is this server: its certificate is not trusted."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The server’s certificate is not trusted."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText",
                       "Nothing was sent. Have the certificate’s authority installed on this computer, or ask whoever runs the server.")},
    {ErrorCode::kServerKeyMissing, "server key missing",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The key for the server is not in “%1”."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The key for the server is missing."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Put it there, or choose another place for it under Model > Connect to a server.")},
    {ErrorCode::kServerKeyRefused, "server key refused", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” does not accept the key."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The server does not accept the key."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Choose where the right one is under Model > Connect to a server.")},
    {ErrorCode::kServerForbids, "server forbids",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” does not allow this with the given key."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The server does not allow this with the given key."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Use another key or another model of the server, or ask whoever runs it.")},
    {ErrorCode::kServerModelMissing, "server model missing", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The server has no model “%1”."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The server does not have this model."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Choose one of its models under Model > Connect to a server.")},
    {ErrorCode::kServerNotOne, "no such server",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "What answers at “%1” is not a server of this kind."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "What answers there is not a server of this kind."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Enter the address that ends in /v1, as the server’s own pages name it.")},
    {ErrorCode::kServerBusy, "server busy", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” has too much to do."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The server has too much to do."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Wait a little, then try again: it may still be loading its model.")},
    {ErrorCode::kServerTooLarge, "request too large", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This is more than “%1” takes at once."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This is more than the server takes at once."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Ask with fewer frames, smaller pictures or less text, or start a new chat.")},
    {ErrorCode::kServerRefuses, "server refuses", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” refuses this request."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The server refuses this request."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText",
                       "The details have its words. Change the sampling or the attachments, or ask whoever runs it.")},
    {ErrorCode::kServerFailed, "server failed", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Something went wrong inside the server “%1”."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Something went wrong inside the server."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Try again; if it happens again, its log has the reason.")},
    {ErrorCode::kServerNotUnderstood, "answer not understood",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "What “%1” answered cannot be understood."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "What the server answered cannot be understood."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Try again; if it happens again, another program may answer in the server’s place.")},
    {ErrorCode::kServerBrokeOff, "answer broke off",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The connection to “%1” ended in the middle of the answer."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "The connection to the server ended in the middle of the answer."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Try again.")},
    {ErrorCode::kTooManyPictures, "too many pictures",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This is more images and frames than “%1” takes at once."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "This is more images and frames than the model takes at once."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Nothing was sent. Choose fewer frames for the videos, or attach fewer images.")},
    {ErrorCode::kNotAble, "not able",
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” cannot do this: a server answers, and it has no way to ask for it."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "A server answers, and it has no way to ask for this."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Load a model on this computer under Model to do it.")},
    {ErrorCode::kInternal, "internal", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Something went wrong inside Winnow."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Something went wrong inside Winnow."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Your chat is saved. Try again. If it happens again, please report it with the details.")},
};

// True for the address of a watched source, which no file has: what was seen of it lives as long as the program.
bool isAddress(const std::string& subject) {
  return subject.find("://") != std::string::npos || subject.starts_with("screen:") || subject.starts_with("/dev/");
}

// Why a file that is named as a picture or a video is not read, by the reader's own clause (app/media/files/allowed_video.cpp).
struct RefusedMedia {
  const char* begins;
  const char* cause;  // %1: the file; %2: what stands in the clause's brackets
  const char* remedy;
};
constexpr RefusedMedia kRefusedMedia[] = {
    {"its video codec (", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is a video whose codec, %2, Winnow does not decode."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText",
                       "Save it as H.264 in a player or converter, or: ffmpeg -i FILE -c:v libx264 -pix_fmt yuv420p NEW.mp4")},
    {"the video is encrypted", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” is encrypted."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Winnow cannot open protected videos. Attach a copy without protection.")},
    {"it contains no video", QT_TRANSLATE_NOOP("winnow::app::ErrorText", "“%1” contains no video."),
     QT_TRANSLATE_NOOP("winnow::app::ErrorText", "Winnow reads pictures and text, not sound. Attach a transcript as a document.")},
};

// The way from a document that is no plain text to one that is.
QString wayFromDocument(const QString& name) {
  const QString ending = QFileInfo(name).suffix().toLower();
  for (const char* each : {"doc", "docx", "odt", "rtf", "epub", "pages", "ppt", "pptx", "odp", "key", "xls", "ods", "numbers"}) {
    if (ending == QLatin1String(each)) return tr("Save it as PDF in the program that made it, and attach that.");
  }
  return {};
}

void describeRefusedMedia(const QString& name, const QString& reason, ErrorText& text) {
  for (const RefusedMedia& refused : kRefusedMedia) {
    if (!reason.startsWith(QLatin1String(refused.begins))) continue;
    text.cause = tr(refused.cause);
    if (text.cause.contains(QLatin1String("%2"))) {
      text.cause = text.cause.arg(name, reason.section(QLatin1Char('('), 1).section(QLatin1Char(')'), 0, 0));
    } else {
      text.cause = text.cause.arg(name);
    }
    text.remedy = tr(refused.remedy);
    return;
  }
  // Files with such names are opened otherwise.
  text.cause = tr("“%1” is not what its name says, or uses a format that Winnow does not open.").arg(name);
  text.remedy = tr("If another program opens it, save it there as MP4 or PNG.");
}

ErrorText describeLostSource(const Error& error) {
  ErrorText text;
  text.cause = tr("What was seen of “%1” is gone.").arg(watchedName(QString::fromStdString(error.subject)));
  text.remedy = tr("A watched source cannot be read again. Watch it anew with File > Watch, or start a new chat.");
  text.details = QStringLiteral("code %1 · %2 · %3")
                     .arg(static_cast<int>(error.code))
                     .arg(displayText(QString::fromStdString(error.subject)), displayText(QString::fromStdString(error.reason)));
  return text;
}

}  // namespace

bool isLostSource(const Error& error) {
  return (error.code == ErrorCode::kFileNotFound || error.code == ErrorCode::kFileUnreadable) && isAddress(error.subject);
}

bool canBeFound(const Error& error) {
  const bool file = error.code == ErrorCode::kFileNotFound || error.code == ErrorCode::kMediaChanged;
  return file && !error.subject.empty() && !isLostSource(error);
}

ErrorText describeError(const Error& error) {
  if (isLostSource(error)) return describeLostSource(error);
  const CodeText* found = &kTexts[std::size(kTexts) - 1];
  for (const CodeText& text : kTexts) {
    if (text.code == error.code) found = &text;
  }
  const QString subject = displayText(QString::fromStdString(error.subject)).simplified();
  // A path is named by its last part; the whole path is in the details.
  const QString name = subject.contains(QLatin1Char('/')) ? QFileInfo(subject).fileName() : subject;
  const QString reason = displayText(QString::fromStdString(error.reason)).simplified();
  ErrorText text;
  text.cause = name.isEmpty() ? tr(found->causeUnnamed) : tr(found->causeNamed);
  if (text.cause.contains(QLatin1String("%1"))) text.cause = text.cause.arg(name);
  text.remedy = tr(found->remedy);
  if (error.code == ErrorCode::kServerKeyMissing && isAddress(error.subject)) {
    text.cause = tr("Your desktop keeps no key for this server.");
    text.remedy = tr("Type it again.");
  }
  if (error.code == ErrorCode::kEngineCrashed && !error.subject.empty()) {
    text.cause = tr("Winnow’s installation is damaged: %1").arg(name);
    text.remedy = tr("Its engine cannot start. Install Winnow again, then choose the model again.");
  }
  if (error.code == ErrorCode::kUnsupportedFormat && (namedAsPicture(name) || namedAsVideo(name))) describeRefusedMedia(name, reason, text);
  if (const QString way = wayFromDocument(name); error.code == ErrorCode::kUnsupportedFormat && !way.isEmpty()) text.remedy = way;
  text.details = QStringLiteral("code %1 (%2)").arg(static_cast<int>(error.code)).arg(QLatin1String(found->name));
  if (!subject.isEmpty()) text.details += QStringLiteral(" · ") + subject;
  if (!reason.isEmpty()) text.details += QStringLiteral(" · ") + reason;
  return text;
}

QString failureText(const Error& error) {
  return QStringLiteral("%1: %2: %3")
      .arg(static_cast<int>(error.code))
      .arg(QString::fromStdString(error.subject), QString::fromStdString(error.reason));
}

Error parseFailure(ErrorCode code, const QString& failure) {
  const QString rest = failure.section(QStringLiteral(": "), 1);
  return {code, rest.section(QStringLiteral(": "), 0, 0).toStdString(), rest.section(QStringLiteral(": "), 1).toStdString()};
}

}  // namespace winnow::app
