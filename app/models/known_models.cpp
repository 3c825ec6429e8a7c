#include "app/models/known_models.h"

#include <QFile>
#include <algorithm>

#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostTextBytes = 200;
constexpr double kGigabyteOfTable = 1e9;
constexpr int kUsualQuestion = 512;  // tokens of text beside the frames

Sight sightOf(const std::string& word) {
  if (word == "videos") return Sight::kVideos;
  return word == "images" ? Sight::kImages : Sight::kNothing;
}

KnownModel readKnownModel(const JsonObject& row) {
  const auto text = [&row](const char* key) { return QString::fromStdString(row.string(key, kMostTextBytes)); };
  KnownModel model;
  model.repository = text("repository");
  model.name = text("name");
  model.family = text("family");
  model.sight = sightOf(row.string("sees", kMostTextBytes));
  model.licence = text("licence");
  model.purpose = text("for");
  model.downloadBytes = static_cast<qint64>(row.real("download_gb", 0, 1000) * kGigabyteOfTable);
  model.kvBytesPerToken = row.integer("kv_bytes_per_token", 0, std::int64_t{1} << 30);
  model.tokensPerFrame = static_cast<int>(row.integer("tokens_per_frame", 0, 1 << 16));
  return model;
}

}  // namespace

std::vector<KnownModel> knownModels(const QString& resourceFolder) {
  std::vector<KnownModel> models;
  try {
    const std::string path = QFile::encodeName(resourceFolder + QStringLiteral("/models.json")).toStdString();
    const Json document = load_json(path);
    for (const Json& row : JsonObject(document, path).list("models", kMostTextBytes))
      models.push_back(readKnownModel(JsonObject(row, path)));
  } catch (const Exception&) {
    return {};
  }
  return models;
}

MemoryNeed memoryNeed(const KnownModel& model) {
  const qint64 tokens = model.sight == Sight::kNothing ? kUsualTokens : qint64{kUsualFrames} * model.tokensPerFrame + kUsualQuestion;
  return memoryNeed(model.downloadBytes, model.kvBytesPerToken, tokens);
}

const KnownModel* bestThatSees(const std::vector<KnownModel>& models, qint64 memoryBytes) {
  const KnownModel* best = nullptr;
  for (const KnownModel& each : models) {
    if (each.sight != Sight::kVideos || !fitsMemory(memoryNeed(each), memoryBytes)) continue;
    if (best == nullptr || each.downloadBytes > best->downloadBytes) best = &each;
  }
  return best;
}

}  // namespace winnow::app
