// A model of the hub that is in the cache already, found by the choice that would fetch it.
//
// Used by hub_fetch.h where the network is forbidden or missing. Touches the disk. Errors: DownloadError of hub_choice.h where files are
// here, but not those. Threads: any.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "app/library/hub/hub_cache.h"
#include "app/library/hub/hub_choice.h"

namespace winnow::app {

struct StoredHubModel {
  QString path;  // what the engine opens
  DownloadChoice choice;
  std::vector<HubFile> files;  // by the names and hashes that they have here; nobody has looked into them
};

// Nothing: it was never fetched, or not all of it is here.
std::optional<StoredHubModel> storedHubModel(const HubCache& cache, const QString& quantisation, qint64 memoryBytes);

// Throws DownloadError(kNotReadable) of a configuration whose family the engine has not.
void requireKnownFamily(const QByteArray& config, const QString& repository);

}  // namespace winnow::app
