#include "app/library/downloads/package_download.h"

#include "app/library/downloads/package_fetch.h"

namespace winnow::app {

PackageDownload::PackageDownload(const ModelOffer& offer, const QString& folder, const DownloadSource& source)
    : ThreadedDownload([&](const InterruptToken& interrupt) { return new PackageFetch(offer, folder, source, interrupt); }) {}

ModelDownloads packageDownloads(const QString& folder) {
  return {modelOffers(), folder, [folder](const ModelOffer& offer) -> std::unique_ptr<ModelDownload> {
            return std::make_unique<PackageDownload>(offer, folder, DownloadSource::fromEnvironment());
          }};
}

}  // namespace winnow::app
