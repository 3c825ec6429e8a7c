#include "app/model_library/model_library.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSet>
#include <algorithm>
#include <optional>
#include <set>

#include "engine/base/json_document.h"

namespace winnow::app {

namespace {

constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMaxWordBytes = 256;
constexpr int kMaxRecentFolders = 10;

std::string pathBytes(const QString& path) { return QFile::encodeName(path).toStdString(); }

bool isPlainName(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name.find('\0') == std::string::npos && name != "." && name != "..";
}

// Names of the shards in the index; nothing when there is no usable index.
std::optional<std::set<std::string>> indexedShards(const QString& folder) {
  const QString index = folder + QStringLiteral("/model.safetensors.index.json");
  if (!QFileInfo::exists(index)) return std::nullopt;
  try {
    const Json json = load_json(pathBytes(index), {kMaxIndexBytes});
    std::set<std::string> names;
    for (const auto& [tensor, shard] : JsonObject(json, "").value("weight_map").items()) {
      if (shard.is_string()) names.insert(shard.get<std::string>());
    }
    return names;
  } catch (const std::exception&) {
    return std::set<std::string>{"model.safetensors.index.json"};  // never a file of weights: reported as missing
  }
}

void setProblem(ModelEntry& entry, ModelProblem problem, const QString& detail) {
  if (entry.problem != ModelProblem::kNone) return;  // the first is the one to solve first
  entry.problem = problem;
  entry.problemDetail = detail;
}

void readConfig(ModelEntry& entry) {
  const QString file = QStringLiteral("config.json");
  const QString path = entry.folder + QLatin1Char('/') + file;
  if (!QFileInfo(path).isFile()) return setProblem(entry, ModelProblem::kNoConfig, file);
  try {
    const Json json = load_json(pathBytes(path));
    const JsonObject config(json, file.toStdString());
    entry.modelType = QString::fromStdString(config.string("model_type", kMaxWordBytes));
    entry.hasVision = config.has("vision_config") || config.has("vision_tower") || config.has("mm_vision_tower");
    if (json.contains("architectures") && json["architectures"].is_array() && !json["architectures"].empty() &&
        json["architectures"][0].is_string())
      entry.architecture = QString::fromStdString(json["architectures"][0].get<std::string>()).left(static_cast<int>(kMaxWordBytes));
  } catch (const std::exception& error) {
    setProblem(entry, ModelProblem::kDamagedConfig, QString::fromUtf8(error.what()));
  }
}

void readWeights(ModelEntry& entry) {
  const QDir dir(entry.folder);
  if (const auto shards = indexedShards(entry.folder)) {
    for (const std::string& name : *shards) {
      const QFileInfo shard(dir.filePath(QFile::decodeName(QByteArray::fromStdString(name))));
      if (!isPlainName(name) || !name.ends_with(".safetensors") || !shard.isFile())
        return setProblem(entry, ModelProblem::kMissingShard, QString::fromStdString(name));
      entry.weightBytes += shard.size();
      ++entry.shardCount;
    }
  } else {
    for (const QFileInfo& shard : dir.entryInfoList({QStringLiteral("*.safetensors")}, QDir::Files)) {
      entry.weightBytes += shard.size();
      ++entry.shardCount;
    }
  }
  if (entry.shardCount > 0) return;
  const QStringList pickles =
      dir.entryList({QStringLiteral("*.bin"), QStringLiteral("*.pt"), QStringLiteral("*.pth"), QStringLiteral("*.ckpt")}, QDir::Files);
  if (pickles.isEmpty()) return setProblem(entry, ModelProblem::kNoWeights, QString());
  setProblem(entry, ModelProblem::kPickleWeights, pickles.first());
}

bool looksLikeModel(const QString& folder) { return QFileInfo(folder + QStringLiteral("/config.json")).isFile(); }

}  // namespace

ModelEntry inspectModelFolder(const QString& folder) {
  ModelEntry entry;
  entry.folder = QDir::cleanPath(QFileInfo(folder).absoluteFilePath());
  entry.name = QFileInfo(entry.folder).fileName();
  // A Hugging Face cache names the folder of a model "models--owner--name/snapshots/<commit>".
  const QStringList parts = entry.folder.split(QLatin1Char('/'));
  if (parts.size() >= 3 && parts[parts.size() - 2] == QLatin1String("snapshots") &&
      parts[parts.size() - 3].startsWith(QLatin1String("models--")))
    entry.name = parts[parts.size() - 3].section(QStringLiteral("--"), -1);
  readConfig(entry);
  readWeights(entry);
  if (!QFileInfo(entry.folder + QStringLiteral("/tokenizer.json")).isFile())
    setProblem(entry, ModelProblem::kNoTokenizer, QStringLiteral("tokenizer.json"));
  const QString demo = demoModelFolder();
  entry.isDemo = !demo.isEmpty() && QFileInfo(demo).canonicalFilePath() == QFileInfo(entry.folder).canonicalFilePath();
  return entry;
}

QList<ModelEntry> scanForModels(const QString& folder, int depth) {
  struct Visit {
    QString folder;
    int depth;
  };
  QList<ModelEntry> models;
  QSet<QString> seen;  // canonical: a link back up ends here
  QList<Visit> open{{folder, depth}};
  while (!open.isEmpty() && seen.size() < kMaxScannedFolders) {
    const Visit visit = open.takeFirst();
    const QString canonical = QFileInfo(visit.folder).canonicalFilePath();
    if (canonical.isEmpty() || seen.contains(canonical)) continue;
    seen.insert(canonical);
    if (looksLikeModel(visit.folder)) {
      models.push_back(inspectModelFolder(visit.folder));
      continue;  // sub-folders of a model are its parts
    }
    if (visit.depth <= 0) continue;
    for (const QFileInfo& sub : QDir(visit.folder).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name))
      open.push_back({sub.absoluteFilePath(), visit.depth - 1});
  }
  std::sort(models.begin(), models.end(), [](const ModelEntry& a, const ModelEntry& b) {
    const int order = a.name.compare(b.name, Qt::CaseInsensitive);
    return order != 0 ? order < 0 : a.folder < b.folder;
  });
  return models;
}

ModelEntry demoModel() {
  const QString folder = demoModelFolder();
  return folder.isEmpty() ? ModelEntry() : inspectModelFolder(folder);
}

QStringList withRecentFolder(QStringList recent, const QString& folder) {
  recent.removeAll(folder);
  recent.prepend(folder);
  return recent.mid(0, kMaxRecentFolders);
}

}  // namespace winnow::app
