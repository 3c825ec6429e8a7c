#include "app/library/models/known_models.h"

#include <QFile>
#include <algorithm>
#include <tuple>

#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostTextBytes = 200;
constexpr double kGigabyteOfTable = 1e9;
constexpr std::int64_t kMostOfShape = 1000;
constexpr std::int64_t kKeyAndValueBytes = 4;  // an element of each in 16 bits
// Offered models may take three quarters of the machine's memory: other programs run beside it.
constexpr qint64 kOffered = 3;
constexpr qint64 kWhole = 4;
// Speed as a share of what memoryBytesPerSecond() reads, and words of English text a token: measured on two cores with SmolLM2 135M and
// Qwen2.5-Coder 0.5B and 1.5B, whose words a second were 0.8, 1.1 and 1.0 times these.
constexpr double kShareOfReading = 0.95;
constexpr double kUsualShare = 0.2;
constexpr double kWordsPerToken = 0.85;
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
  model.activeBytes = static_cast<qint64>(row.real("active_gb", 0, 1000, 0.0) * kGigabyteOfTable);
  const auto count = [&row](const char* key) { return row.integer(key, 0, kMostOfShape); };
  model.kvBytesPerToken = kKeyAndValueBytes * count("layers") * count("kv_heads") * count("head_size");
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

std::optional<double> wordsPerSecond(const KnownModel& model, const MachineMemory& memory) {
  const MemoryNeed need = memoryNeed(model);
  if (memory.bytesPerSecond <= 0.0 || modelFit(need, memory) == ModelFit::kGpu) return std::nullopt;
  // A fifth of what was read is kept, and read with every token.
  const qint64 weights = model.activeBytes > 0 ? model.activeBytes : model.downloadBytes;
  const double read = static_cast<double>(weights) + kUsualShare * static_cast<double>(need.cache);
  return read > 0.0 ? std::optional(kWordsPerToken * kShareOfReading * memory.bytesPerSecond / read) : std::nullopt;
}

const KnownModel* bestThatSees(const std::vector<KnownModel>& models, const MachineMemory& memory) {
  const MachineMemory offered{memory.bytes / kWhole * kOffered, memory.gpuBytes, memory.bytesPerSecond};
  const auto rank = [&](const KnownModel& model) {
    const ModelFit fit = modelFit(memoryNeed(model), offered);
    const double words = wordsPerSecond(model, offered).value_or(kReadableWordsPerSecond);
    const double pace = std::min(words, kReadableWordsPerSecond);
    return std::tuple(fit != ModelFit::kNowhere, fit == ModelFit::kGpu, pace, model.downloadBytes);
  };
  const KnownModel* best = nullptr;
  for (const KnownModel& each : models) {
    if (each.sight == Sight::kVideos && (best == nullptr || rank(each) > rank(*best))) best = &each;
  }
  return best != nullptr && std::get<0>(rank(*best)) ? best : nullptr;
}

}  // namespace winnow::app
