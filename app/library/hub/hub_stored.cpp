#include "app/library/hub/hub_stored.h"

#include <QFile>

#include "app/library/downloads/download_fault.h"
#include "engine/api/model_kinds.h"
#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

constexpr qint64 kMostIndexFileBytes = qint64{64} << 20;

// False: one of them is not here.
bool addShards(const QString& snapshot, const std::vector<HubFile>& files, std::vector<HubFile>& into) {
  if (findHubFile(files, QStringLiteral("model.safetensors")) != nullptr) return true;
  QFile index(snapshot + QLatin1Char('/') + QLatin1String(kShardIndexName));
  if (!index.open(QIODevice::ReadOnly)) return false;
  try {
    const std::vector<HubFile> shards = shardsOf(index.read(kMostIndexFileBytes), files);
    into.insert(into.end(), shards.begin(), shards.end());
    return !shards.empty();
  } catch (const DownloadError&) {
    return false;
  }
}

}  // namespace

std::optional<StoredHubModel> storedHubModel(const HubCache& cache, const QString& quantisation, qint64 memoryBytes) {
  const QString commit = cache.reference();
  if (commit.isEmpty()) return std::nullopt;
  const std::vector<HubFile> files = cache.stored(commit);
  if (files.empty()) return std::nullopt;
  try {
    HubSelection selection = chooseHubFiles(files, quantisation, memoryBytes);
    const QString snapshot = cache.snapshot(commit);
    selection.choice.reason = ChoiceReason::kStored;
    if (!selection.opened.isEmpty())
      return StoredHubModel{snapshot + QLatin1Char('/') + selection.opened, selection.choice, selection.files};
    if (!addShards(snapshot, files, selection.files)) return std::nullopt;
    return StoredHubModel{snapshot, selection.choice, selection.files};
  } catch (const DownloadError&) {
    return std::nullopt;  // what is here is something else
  }
}

void requireKnownFamily(const QByteArray& config, const QString& repository) {
  const std::string subject = repository.toStdString() + ": config.json";
  try {
    const Json document = parse_json(config.toStdString(), subject);
    if (known_family(JsonObject(document, subject))) return;
  } catch (const Exception& problem) {
    throw DownloadError({DownloadProblem::kNotReadable, repository, QString::fromStdString(problem.error().reason)});
  }
  throw DownloadError({DownloadProblem::kNotReadable, repository,
                       QStringLiteral("the engine does not run its kind (winnow-cli probe lists what it runs)")});
}

}  // namespace winnow::app
