#include "app/engine/cache_store/kept_transcripts.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "app/ground/resources/bundled_files.h"
#include "app/media/files/scanned_text.h"
#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr int kNameDigits = 16;  // of the hash of model and language
constexpr const char* kVoiceWeights = "/speech/silero_vad_16k.safetensors";

QString folderIn(const QString& data) { return QDir(data).absoluteFilePath(QStringLiteral("transcripts/")); }

QFileInfo infoOf(const std::string& file) { return QFileInfo(QFile::decodeName(QByteArray::fromStdString(file))); }

}  // namespace

Transcribe hearingRequest(const std::string& path, const QString& model) {
  return {.path = path,
          .model = QFile::encodeName(model).toStdString(),
          .voice = QFile::encodeName(resourceFolder()).toStdString() + kVoiceWeights};
}

std::string transcriptFile(const QString& data, const Transcribe& heard, const char* ending) {
  const QByteArray made = QByteArray::fromStdString(heard.model + '\n' + heard.language + '\n' + (heard.voice.empty() ? "all" : "spoken"));
  const QByteArray by = QCryptographicHash::hash(made, QCryptographicHash::Sha256).toHex().left(kNameDigits);
  const QString name = QString::fromStdString(heard.content) + QLatin1Char('-') + QLatin1String(by) + QLatin1String(ending);
  return QFile::encodeName(folderIn(data) + name).toStdString();
}

std::string scannedFile(const QString& data, const std::string& content, const QString& languages, const PageRange& pages) {
  Transcribe read{.content = content, .model = "Tesseract", .language = languages.toStdString()};
  if (pages.first > 0) read.language += ' ' + std::to_string(pages.first) + '-' + std::to_string(pages.last);
  return transcriptFile(data, read, kScannedText);
}

std::string timedTextBeside(const std::string& subtitles) { return subtitles.substr(0, subtitles.rfind(kSubtitles)) + kTimedText; }

bool isAmongTranscripts(const QString& data, const QByteArray& file) { return file.startsWith(QFile::encodeName(folderIn(data))); }

bool isKeptTranscript(const std::string& file) { return infoOf(file).isFile(); }

bool hasKeptLines(const std::string& file) { return isKeptTranscript(file) && infoOf(file).size() > 0; }

void forgetTranscripts(const QString& data, const QByteArray& sha256) {
  if (sha256.isEmpty()) return;
  QDir folder(folderIn(data));
  for (const QString& name : folder.entryList({QString::fromLatin1(sha256) + QStringLiteral("-*")}, QDir::Files)) folder.remove(name);
}

void keepText(const std::string& file, const std::string& text) {
  const QString folder = infoOf(file).absolutePath();
  if (!QDir().mkpath(folder)) throw Exception(ErrorCode::kFileUnwritable, file, "its folder cannot be made");
  ReplacedFile target(file);
  target.write(text);
  target.commit();
}

void keepTranscript(const std::string& file, const std::vector<TimedLine>& lines, std::string (*form)(const std::vector<TimedLine>&)) {
  keepText(file, lines.empty() ? std::string() : form(lines));
}

}  // namespace winnow::app
