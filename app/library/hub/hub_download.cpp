#include "app/library/hub/hub_download.h"

#include <QUrl>

#include "app/library/hub/hub_fetch.h"

namespace winnow::app {

HubRequest HubRequest::of(const HubName& name, qint64 memoryBytes) {
  HubRequest request{name, HubPlace::fromEnvironment(), DownloadSource::fromEnvironment(), memoryBytes};
  // Plain http to this machine and no other (secure_client.h), where the user has named it.
  request.source.plainLoopback = QUrl(request.place.endpoint).scheme() == QLatin1String("http");
  return request;
}

HubDownload::HubDownload(const HubRequest& request)
    : ThreadedDownload([&](const InterruptToken& interrupt) { return new HubFetch(request, interrupt); }) {}

}  // namespace winnow::app
