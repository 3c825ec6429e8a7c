#include "app/library/downloads/model_folder.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "app/library/downloads/download_fault.h"
#include "app/library/downloads/file_hash.h"
#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr qint64 kMostStampBytes = 4096;
constexpr qint64 kMostPathBytes = 4096;
constexpr QLatin1String kChosenToHear("hears.txt");

// The offer has one file.
QString stampFile(const QString& folder, const ModelOffer& offer) { return offeredFile(folder, offer) + QStringLiteral(".checked"); }

// Calls look(folder, file) for the files of an offer, as long as it says true.
template <class Look>
bool everyFile(const QString& folder, const ModelOffer& offer, const Look& look) {
  const QString place = offer.beside.empty() ? folder : offeredFile(folder, offer);
  const std::vector<ModelOffer> files = offer.files();
  return std::ranges::all_of(files, [&](const ModelOffer& file) { return look(place, file); });
}

bool isFile(const QFileInfo& file) { return file.isFile() && !file.isSymLink(); }

// The stamp of a file: it changes with every way in which the file could become another one.
QByteArray stampOf(const QFileInfo& file, const QByteArray& sha256) {
  return QByteArray::number(file.size()) + ' ' + QByteArray::number(file.lastModified().toMSecsSinceEpoch()) + ' ' + sha256 + '\n';
}

}  // namespace

QString modelsFolder(const QString& data) { return QDir(data).absoluteFilePath(QStringLiteral("models")); }

QString offeredFile(const QString& folder, const ModelOffer& offer) {
  return QDir(folder).absoluteFilePath(offer.beside.empty() ? offer.fileName() : offer.id);
}

QString fetchedSpeechModel(const QString& folder) {
  const QDir models(folder);
  if (QFile chosen(models.filePath(kChosenToHear)); chosen.open(QIODevice::ReadOnly)) {
    const QString path = QFile::decodeName(chosen.read(kMostPathBytes));
    if (QFileInfo::exists(path)) return path;
  }
  const QStringList put = models.entryList({QStringLiteral("ggml-*.bin")}, QDir::Files, QDir::Name);
  if (!put.isEmpty()) return models.absoluteFilePath(put.first());
  for (const ModelOffer& offer : speechOffers())
    if (isFetched(folder, offer)) return offeredFile(folder, offer);
  return {};
}

void chooseSpeechModel(const QString& folder, const QString& path) {
  QDir().mkpath(folder);
  try {
    ReplacedFile file(QFile::encodeName(QDir(folder).filePath(kChosenToHear)).toStdString());
    file.write(QFile::encodeName(path).toStdString());
    file.commit();
  } catch (const Exception&) {
    // The one of before hears.
  }
}

bool isFetched(const QString& folder, const ModelOffer& offer) {
  if (!offer.beside.empty()) return everyFile(folder, offer, isFetched);
  const QFileInfo file(offeredFile(folder, offer));
  return isFile(file) && file.size() == offer.fileBytes;
}

bool isChecked(const QString& folder, const ModelOffer& offer) {
  if (!offer.beside.empty()) return everyFile(folder, offer, isChecked);
  QFile stamp(stampFile(folder, offer));
  if (!isFetched(folder, offer) || !isFile(QFileInfo(stamp.fileName())) || !stamp.open(QIODevice::ReadOnly)) return false;
  return stamp.read(kMostStampBytes) == stampOf(QFileInfo(offeredFile(folder, offer)), offer.fileSha256);
}

bool check(const QString& folder, const ModelOffer& offer, const InterruptToken& interrupt,
           const std::function<void(qint64 done)>& progress) {
  if (!offer.beside.empty())
    return everyFile(folder, offer, [&](const QString& place, const ModelOffer& each) { return check(place, each, interrupt, progress); });
  QFile file(offeredFile(folder, offer));
  if (!isFetched(folder, offer) || !file.open(QIODevice::ReadOnly)) return false;
  QCryptographicHash hash(QCryptographicHash::Sha256);
  if (!addToHash(hash, file, interrupt, progress) || hash.result().toHex() != offer.fileSha256) return false;
  markChecked(folder, offer);
  return true;
}

void markChecked(const QString& folder, const ModelOffer& offer) {
  const QString stamp = stampFile(folder, offer);
  if (!isFile(QFileInfo(stamp))) QFile::remove(stamp);  // a link would be followed
  try {
    ReplacedFile file(QFile::encodeName(stamp).toStdString());
    file.write(stampOf(QFileInfo(offeredFile(folder, offer)), offer.fileSha256).toStdString());
    file.commit();
  } catch (const Exception&) {
    // Without a stamp the file is hashed again the next time.
  }
}

void makeWay(const QString& folder, const ModelOffer& offer) {
  const QString path = offeredFile(folder, offer);
  if (QFileInfo(path).isSymLink() && !QFile::remove(path)) {
    throw DownloadError({DownloadProblem::kUnwritable, path, QStringLiteral("a link lies there that cannot be removed")});
  }
}

}  // namespace winnow::app
