#include "app/words/error_text.h"

#include <QCoreApplication>
#include <QFileInfo>

#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/media_names.h"

namespace winnow::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::app::ErrorText", text); }

#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::ErrorText", text)

struct CodeText {
  ErrorCode code;
  const char* name;          // for the details line, English
  const char* causeNamed;    // %1: file name or subject
  const char* causeUnnamed;  // null: causeNamed, which names nothing
  const char* remedy;
};

constexpr CodeText kTexts[] = {
    {ErrorCode::kInvalidArgument, "invalid argument", SAY("“%1” has an invalid value."), SAY("This request has an invalid value."),
     SAY("Change the frames, the time range or the method, then try again.")},
    {ErrorCode::kFileNotFound, "file not found", SAY("“%1” cannot be found."), SAY("A file cannot be found."),
     SAY("It may have been moved, renamed or deleted. Put it back, or attach it again from its new place.")},
    {ErrorCode::kFileUnreadable, "file unreadable", SAY("“%1” cannot be read."), SAY("A file cannot be read."),
     SAY("Check that it is a file and that you have permission to read it.")},
    {ErrorCode::kFileUnwritable, "file unwritable", SAY("“%1” cannot be written."), SAY("A file cannot be written."),
     SAY("Check that the disk has room and that you have permission to write there.")},
    {ErrorCode::kUnsupportedFormat, "unsupported format", SAY("“%1” is in a format that Winnow does not open."),
     SAY("This format is not supported."),
     SAY("Images: PNG, JPEG, WebP, HEIC, AVIF, BMP, GIF. Videos: MP4, WebM, MKV, MOV, AVI. Documents: PDF, DOCX, ODT, XLSX, EPUB, HTML and "
         "plain text of any kind.")},
    {ErrorCode::kDamagedFile, "damaged file", SAY("“%1” is damaged or incomplete."), SAY("A file is damaged or incomplete."),
     SAY("Copy or download it again. If it plays elsewhere, re-encoding it usually helps.")},
    {ErrorCode::kLimitExceeded, "limit exceeded", SAY("“%1” is larger than Winnow accepts."), SAY("This is larger than Winnow accepts."),
     SAY("Use a smaller image, a shorter text or range, or fewer frames.")},
    {ErrorCode::kUnsupportedModel, "unsupported model", SAY("The model “%1” is of a kind that Winnow cannot run yet."),
     SAY("This model is of a kind that Winnow cannot run yet."), SAY("Choose another one, or the bundled demo model.")},
    {ErrorCode::kContextFull, "context full", SAY("This chat is longer than the model can read."), nullptr,
     SAY("Nothing was cut off. Ask with less text or fewer frames, or start a new chat.")},
    {ErrorCode::kOutOfMemory, "out of memory", SAY("There was not enough memory for this answer."), nullptr,
     SAY("Your chat is saved. Use fewer frames or a smaller share to keep, or close other programs.")},
    {ErrorCode::kDeviceUnavailable, "device unavailable", SAY("The device “%1” is not available here."),
     SAY("The chosen device is not available here."), SAY("Load the model on the CPU instead.")},
    {ErrorCode::kDeviceFailed, "device failed", SAY("The graphics processor stopped working."), nullptr,
     SAY("Ask again: the engine starts anew. If it stops again, load the model on the CPU.")},
    {ErrorCode::kNumericFailure, "numeric failure", SAY("The model’s calculation went out of range."), nullptr,
     SAY("The weights may be damaged, or need more precision. Load the model in 32 bits.")},
    {ErrorCode::kIllegalRecipe, "illegal recipe", SAY("The cache method “%1” cannot be used like this."),
     SAY("This cache method cannot be used like this."), SAY("Choose another method, or keep everything.")},
    {ErrorCode::kStorage, "storage", SAY("The chats could not be saved or read."), nullptr,
     SAY("Try again. If it happens again, the details show the reason.")},
    {ErrorCode::kStorageDamaged, "storage damaged", SAY("Your chats file “%1” is damaged."), SAY("Your chats file is damaged."),
     SAY("Nothing in it was changed. Start with an empty list or with a backup: the file is kept under another name.")},
    {ErrorCode::kStorageNewer, "storage newer", SAY("Your chats in “%1” were saved by a newer version of Winnow."),
     SAY("Your chats were saved by a newer version of Winnow."), SAY("Nothing was changed. Update Winnow to see them again.")},
    {ErrorCode::kStorageInUse, "storage in use", SAY("Another program is using your chats."), nullptr,
     SAY("It may be another Winnow. Close it, then try again.")},
    {ErrorCode::kStorageReadOnly, "storage read-only", SAY("Your chats cannot be saved: Winnow may not write to “%1”."),
     SAY("Your chats cannot be saved: Winnow may not write to their folder."), SAY("Allow writing there, then try again.")},
    {ErrorCode::kStorageFull, "storage full", SAY("The disk is full: nothing more can be saved."), nullptr,
     SAY("What was saved before is safe. Make some room, then try again.")},
    {ErrorCode::kModelFolderMissing, "model folder missing", SAY("The model “%1” cannot be found."), SAY("The model cannot be found."),
     SAY("It may have been moved, or its disk is not connected. Choose its new place.")},
    {ErrorCode::kNoModel, "no model", SAY("“%1” is not a model."), SAY("This is not a model."),
     SAY("Choose a GGUF file, or a model’s folder from Hugging Face.")},
    {ErrorCode::kModelInside, "model inside", SAY("The model is “%1” inside the chosen folder."),
     SAY("The model is inside the chosen folder."), SAY("Choose that one.")},
    {ErrorCode::kNotFetched, "not fetched", SAY("“%1” is not the file itself."), SAY("A file is not the file itself."),
     SAY("It is empty, unfinished, a web page or a Git LFS pointer. Download the file itself.")},
    {ErrorCode::kArchive, "archive", SAY("“%1” is an archive."), SAY("This is an archive."), SAY("Unpack it, then choose the file in it.")},
    {ErrorCode::kModelFormat, "model format", SAY("The weights “%1” are in a format that Winnow does not open."),
     SAY("The weights are in a format that Winnow does not open."), SAY("Use *.safetensors in bf16, fp16 or fp32, or a GGUF file.")},
    {ErrorCode::kCacheOutdated, "stored conversation outdated", SAY("What was saved of this chat does not match “%1”."),
     SAY("What was saved of this chat no longer matches."), SAY("The whole chat is read again with your next question.")},
    {ErrorCode::kModelReadsText, "model reads text", SAY("This model reads text only: it cannot look at “%1”."),
     SAY("This model reads text only: it cannot look at images and videos."),
     SAY("Choose a model that reads images under Model, or ask without the attachments.")},
    {ErrorCode::kModelReadsImages, "model reads images", SAY("This model reads images, but no videos: it cannot look at “%1”."),
     SAY("This model reads images, but no videos."), SAY("Choose a model that reads videos under Model, or ask without the video.")},
    {ErrorCode::kMediaChanged, "media changed", SAY("“%1” is not the file that was attached."),
     SAY("A file is not the one that was attached."),
     SAY("It has changed since. Put the old file back, or edit the question to ask about the new one.")},
    {ErrorCode::kModelFileChanged, "model file changed", SAY("Another program changed the model’s file “%1” while it was loaded."),
     SAY("Another program changed the model’s file while it was loaded."),
     SAY("Your chat is saved. Choose the model again in the Model menu, then ask again.")},
    {ErrorCode::kEngineCrashed, "engine crashed", SAY("The engine stopped unexpectedly."), nullptr,
     SAY("Ask again: the engine starts anew.")},
    {ErrorCode::kEngineOutOfMemory, "engine out of memory", SAY("The engine stopped: out of memory."), nullptr,
     SAY("Use fewer frames, a smaller model or a smaller share to keep, or close other programs.")},
    {ErrorCode::kEngineSilent, "engine silent", SAY("The engine did not react and was ended."), nullptr,
     SAY("Ask again: the engine starts anew.")},
    {ErrorCode::kMediaCrashed, "media reader crashed", SAY("Reading “%1” failed: the program that reads it stopped."),
     SAY("Reading a file failed: the program that reads it stopped."),
     SAY("The file may be damaged. Other files can be attached; this one may help when it is converted.")},
    {ErrorCode::kEmptyFile, "empty file", SAY("“%1” is empty."), SAY("A file is empty."), SAY("Copy or download it again.")},
    {ErrorCode::kPasswordNeeded, "password needed", SAY("“%1” is encrypted and needs a password."),
     SAY("A document is encrypted and needs a password."), SAY("Enter its password.")},
    {ErrorCode::kNoTextInPages, "no text in pages", SAY("“%1” has no text: its pages are pictures, probably scans."),
     SAY("A document has no text: its pages are pictures, probably scans."),
     SAY("Choose a model that sees under Model, and ask about its pages as pictures. Or have Tesseract read its text (on its card, or "
         "--ocr).")},
    {ErrorCode::kModelFileMissing, "model file missing", SAY("The model lacks its file “%1”."), SAY("The model lacks a file."),
     SAY("Copy or download the whole model again.")},
    {ErrorCode::kServerUnreachable, "server unreachable", SAY("The server “%1” cannot be reached."), SAY("The server cannot be reached."),
     SAY("Check the address, that the server runs and that the network is up, then try again.")},
    {ErrorCode::kServerUntrusted, "server untrusted", SAY("“%1” cannot prove that it is this server: its certificate is not trusted."),
     SAY("The server’s certificate is not trusted."),
     SAY("Nothing was sent. Have the certificate’s authority installed on this computer, or ask whoever runs the server.")},
    {ErrorCode::kServerKeyMissing, "server key missing", SAY("The key for the server is not in “%1”."),
     SAY("The key for the server is missing."), SAY("Put it there, or choose another place for it under Model > Connect to a server.")},
    {ErrorCode::kServerKeyRefused, "server key refused", SAY("“%1” does not accept the key."), SAY("The server does not accept the key."),
     SAY("Choose where the right one is under Model > Connect to a server.")},
    {ErrorCode::kServerForbids, "server forbids", SAY("“%1” does not allow this with the given key."),
     SAY("The server does not allow this with the given key."),
     SAY("Use another key or another model of the server, or ask whoever runs it.")},
    {ErrorCode::kServerModelMissing, "server model missing", SAY("The server has no model “%1”."),
     SAY("The server does not have this model."), SAY("Choose one of its models under Model > Connect to a server.")},
    {ErrorCode::kServerNotOne, "no such server", SAY("What answers at “%1” is not a server of this kind."),
     SAY("What answers there is not a server of this kind."),
     SAY("Enter the address that ends in /v1, as the server’s own pages name it.")},
    {ErrorCode::kServerBusy, "server busy", SAY("“%1” has too much to do."), SAY("The server has too much to do."),
     SAY("Wait a little, then try again: it may still be loading its model.")},
    {ErrorCode::kServerTooLarge, "request too large", SAY("This is more than “%1” takes at once."),
     SAY("This is more than the server takes at once."), SAY("Ask with fewer frames, smaller pictures or less text, or start a new chat.")},
    {ErrorCode::kServerRefuses, "server refuses", SAY("“%1” refuses this request."), SAY("The server refuses this request."),
     SAY("The details have its words. Change the sampling or the attachments, or ask whoever runs it.")},
    {ErrorCode::kServerFailed, "server failed", SAY("Something went wrong inside the server “%1”."),
     SAY("Something went wrong inside the server."), SAY("Try again; if it happens again, its log has the reason.")},
    {ErrorCode::kServerNotUnderstood, "answer not understood", SAY("What “%1” answered cannot be understood."),
     SAY("What the server answered cannot be understood."),
     SAY("Try again; if it happens again, another program may answer in the server’s place.")},
    {ErrorCode::kServerBrokeOff, "answer broke off", SAY("The connection to “%1” ended in the middle of the answer."),
     SAY("The connection to the server ended in the middle of the answer."), SAY("Try again.")},
    {ErrorCode::kTooManyPictures, "too many pictures", SAY("This is more images and frames than “%1” takes at once."),
     SAY("This is more images and frames than the model takes at once."),
     SAY("Nothing was sent. Choose fewer frames for the videos, or attach fewer images.")},
    {ErrorCode::kNotAble, "not able", SAY("“%1” cannot do this: a server answers, and it has no way to ask for it."),
     SAY("A server answers, and it has no way to ask for this."), SAY("Load a model on this computer under Model to do it.")},
    {ErrorCode::kInternal, "internal", SAY("Something went wrong inside Winnow."), nullptr,
     SAY("Your chat is saved. Try again. If it happens again, please report it with the details.")},
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
    {"its video codec (", SAY("“%1” is a video whose codec, %2, Winnow does not decode."),
     SAY("Save it as H.264 in a player or converter, or: ffmpeg -i FILE -c:v libx264 -pix_fmt yuv420p NEW.mp4")},
    {"the video is encrypted", SAY("“%1” is encrypted."), SAY("Winnow cannot open protected videos. Attach a copy without protection.")},
    {"it contains no video", SAY("“%1” contains no video."),
     SAY("Winnow reads pictures and text, not sound. Attach a transcript as a document.")},
};

#undef SAY

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
  return {.cause = tr("What was seen of “%1” is gone.").arg(watchedName(QString::fromStdString(error.subject))),
          .remedy = tr("A watched source cannot be read again. Watch it anew with File > Watch, or start a new chat."),
          .details = QStringLiteral("code %1 · %2 · %3")
                         .arg(static_cast<int>(error.code))
                         .arg(displayText(QString::fromStdString(error.subject)), displayText(QString::fromStdString(error.reason)))};
}

}  // namespace

bool isLostSource(const Error& error) {
  return (error.code == ErrorCode::kFileNotFound || error.code == ErrorCode::kFileUnreadable) && isAddress(error.subject);
}

QString repairOf(const Error& error) {
  if (error.subject.empty() || isLostSource(error)) return {};
  if (error.code == ErrorCode::kPasswordNeeded) return tr("Enter its password…");
  return error.code == ErrorCode::kFileNotFound || error.code == ErrorCode::kMediaChanged ? tr("Find it…") : QString();
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
  ErrorText text{.cause = tr(name.isEmpty() && found->causeUnnamed != nullptr ? found->causeUnnamed : found->causeNamed)};
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
