#include "app/engine/cache_store/kept_transcripts.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr int kNameDigits = 16;  // of the hash of model and language

}  // namespace

std::string transcriptFile(const QString& data, const Transcribe& heard, const char* ending) {
  const QByteArray made = QByteArray::fromStdString(heard.model + '\n' + heard.language + '\n' + (heard.voice.empty() ? "all" : "spoken"));
  const QByteArray by = QCryptographicHash::hash(made, QCryptographicHash::Sha256).toHex().left(kNameDigits);
  const QString name = QString::fromStdString(heard.content) + QLatin1Char('-') + QLatin1String(by) + QLatin1String(ending);
  return QFile::encodeName(QDir(data).absoluteFilePath(QStringLiteral("transcripts/") + name)).toStdString();
}

bool isKeptTranscript(const std::string& file) { return QFileInfo(QFile::decodeName(QByteArray::fromStdString(file))).isFile(); }

void keepTranscript(const std::string& file, const std::string& text) {
  const QString folder = QFileInfo(QFile::decodeName(QByteArray::fromStdString(file))).absolutePath();
  if (!QDir().mkpath(folder)) throw Exception(ErrorCode::kFileUnwritable, file, "its folder cannot be made");
  ReplacedFile target(file);
  target.write(text);
  target.commit();
}

}  // namespace winnow::app
