#include "app/library/downloads/download_source.h"

#include "app/ground/process/own_folder.h"

namespace winnow::app {

DownloadSource DownloadSource::fromEnvironment() {
  DownloadSource source{.index = qEnvironmentVariable("PIP_INDEX_URL").trimmed()};
  if (source.index.isEmpty()) source.index = QStringLiteral("https://pypi.org/simple");
  source.certificates = qEnvironmentVariable("PIP_CERT");
  if (source.certificates.isEmpty()) source.certificates = qEnvironmentVariable("SSL_CERT_FILE");
  source.freeBytes = &app::freeBytes;
  return source;
}

}  // namespace winnow::app
