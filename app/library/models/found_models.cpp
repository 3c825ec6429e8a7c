#include "app/library/models/found_models.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSet>
#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "app/library/hub/hub_cache.h"
#include "engine/api/model_kinds.h"
#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

// Names of what Ollama has downloaded; what a manifest says reads engine/model_files/ollama_folder.h.

// "llama3.2:3b" of <manifests>/registry.ollama.ai/library/llama3.2/3b; other owners and registries are named with it.
QString ollamaName(const QString& manifests, const QString& manifest) {
  QStringList parts = QDir(manifests).relativeFilePath(manifest).split(QLatin1Char('/'));
  const QString tag = parts.takeLast();
  if (parts.size() > 1 && parts.first() == QLatin1String("registry.ollama.ai")) parts.removeFirst();
  if (parts.size() > 1 && parts.first() == QLatin1String("library")) parts.removeFirst();
  return parts.join(QLatin1Char('/')) + QLatin1Char(':') + tag;
}

constexpr int kMaxEntries = 20'000;  // of one program's folder
constexpr int kMaxLevels = 6;        // below it: a snapshot's files are three down, publisher/repository/file two
constexpr int kMaxDocuments = 500;   // configurations or manifests that are read

QString name(const QFileInfo& entry) { return entry.fileName(); }

// One program's folder, entry by entry.
class Search {
 public:
  Search(ModelOrigin origin, const InterruptToken& interrupt) : m_origin(origin), m_interrupt(interrupt) {}

  void folder(const QString& path) { walk(path, 0); }

  void ollama(const QString& models) {
    const QString manifests = models + QStringLiteral("/manifests");
    m_visit = [this, models, manifests](const QFileInfo& entry) {
      if (++m_documents > kMaxDocuments) return;
      const auto named = read_ollama_manifest(QFile::encodeName(models).toStdString(), QFile::encodeName(entry.filePath()).toStdString());
      if (!named) return;
      const QString blob = QFile::decodeName(QByteArray::fromStdString(named->model));
      addGguf(ollamaName(manifests, entry.filePath()), blob, !named->projector.empty());
    };
    walk(manifests, 0);
  }

  // Finds what the branches and tags of each repository are at ("main" first, the others with their names), else the newest.
  void hub(const QString& path) {
    for (const QFileInfo& repository : entries(path)) {
      if (!repository.isDir() || hubRepositoryOf(name(repository)).isEmpty()) continue;
      const QString snapshots = repository.filePath() + QStringLiteral("/snapshots/");
      const std::map<QString, QString> named = namedRevisions(repository.filePath() + QStringLiteral("/refs"), snapshots);
      if (named.empty()) {
        if (const QString revision = newest(snapshots); !revision.isEmpty()) walk(snapshots + revision, 1);
      }
      if (const auto main = named.find(QStringLiteral("main")); main != named.end()) walk(snapshots + main->second, 1);
      for (const auto& [reference, commit] : named) {
        m_revision = QLatin1Char('@') + reference;
        walk(snapshots + commit, 1);
      }
      m_revision.clear();
    }
  }

  std::vector<FoundModel> take() { return std::move(m_found); }

 private:
  QList<QFileInfo> entries(const QString& path) {
    QList<QFileInfo> list;
    QDirIterator iterator(path, QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden);
    while (m_left > 0 && iterator.hasNext()) {
      m_interrupt.throw_if_requested();
      --m_left;
      iterator.next();
      list.append(iterator.fileInfo());
    }
    return list;
  }

  // References, "main" or "refs/pr/3" without the first part, whose commits lie in `snapshots`.
  static std::map<QString, QString> namedRevisions(const QString& references, const QString& snapshots) {
    static const QRegularExpression hex(QStringLiteral("^[0-9a-f]{7,64}$"));
    constexpr qint64 kMostBytes = 128;
    constexpr std::size_t kMostReferences = 20;
    std::map<QString, QString> named;
    QDirIterator files(references, QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext() && named.size() < kMostReferences) {
      QFile file(files.next());
      if (!file.open(QIODevice::ReadOnly)) continue;
      const QString commit = QString::fromLatin1(file.read(kMostBytes)).trimmed();
      if (hex.match(commit).hasMatch() && QFileInfo(snapshots + commit).isDir())
        named[QDir(references).relativeFilePath(file.fileName())] = commit;
    }
    return named;
  }

  QString newest(const QString& snapshots) {
    QFileInfo latest;
    for (const QFileInfo& entry : entries(snapshots)) {
      if (entry.isDir() && (latest.filePath().isEmpty() || entry.lastModified() > latest.lastModified())) latest = entry;
    }
    return latest.filePath().isEmpty() ? QString() : name(latest);
  }

  void walk(const QString& path, int level) {
    const QString real = QFileInfo(path).canonicalFilePath();  // empty: it is not there
    if (real.isEmpty() || m_walked.contains(real)) return;     // a link back to where we have been
    m_walked.insert(real);
    const QList<QFileInfo> list = entries(path);
    if (!m_visit && addFolder(path, list)) return;
    for (const QFileInfo& entry : list) {
      if (entry.isDir()) {
        if (level < kMaxLevels) walk(entry.filePath(), level + 1);
      } else if (entry.isFile()) {
        m_visit ? m_visit(entry) : visitFile(entry);
      }
    }
  }

  void visitFile(const QFileInfo& entry) {
    const QString file = name(entry);
    if (file.startsWith(QLatin1String("ggml-")) && file.endsWith(QLatin1String(".bin")) && hears(entry.filePath()))
      return add({.origin = m_origin, .name = entry.completeBaseName(), .path = entry.filePath(), .bytes = entry.size(), .hears = true});
    if (!file.endsWith(QLatin1String(".gguf")) || names_projector(file.toStdString())) return;
    // Some programs call every file "model" and put the name on its folder.
    const QString shown = modelNameOf(entry.filePath());
    addGguf(shown == QLatin1String("model") ? entry.dir().dirName() : shown, entry.filePath(),
            !projectorsBeside(entry.filePath()).isEmpty());
  }

  // `projector`: whether an mmproj file lies beside it. The others' metadata, which are long, are read where they name a vision encoder
  // inside.
  void addGguf(const QString& shown, const QString& path, bool projector) {
    const std::optional<qint64> bytes = bytesOfGguf(path);
    if (!bytes) return;
    const bool maySee = projector || may_see_inside(QFile::encodeName(path).toStdString());
    const std::optional<KnownFamily> family = maySee ? familyOfGguf(path) : std::nullopt;
    add({m_origin, shown, path, *bytes, family && family->sees, family && family->reads_videos});
  }

  std::optional<KnownFamily> familyOfGguf(const QString& path) {
    if (++m_documents > kMaxDocuments) return std::nullopt;
    try {
      return known_family(GgufModel(QFile::encodeName(path).toStdString()).required(ModelPart::kConfig).root());
    } catch (const Exception&) {
      return std::nullopt;
    }
  }

  // With all its parts; nullopt: it is no such file, or a later part, or parts are missing.
  static std::optional<qint64> bytesOfGguf(const QString& path) {
    if (!is_gguf(QFile::encodeName(path).toStdString())) return std::nullopt;
    const QStringList parts = ggufParts(path);
    if (parts.isEmpty()) return std::nullopt;
    qint64 bytes = 0;
    for (const QString& part : parts) {
      const QFileInfo file(part);
      if (!file.isFile()) return std::nullopt;
      bytes += file.size();
    }
    return bytes;
  }

  // True if it is a model's folder, listed or not: nothing below it is looked at then.
  bool addFolder(const QString& path, const QList<QFileInfo>& list) {
    qint64 bytes = 0;
    bool config = false;
    for (const QFileInfo& entry : list) {
      config = config || (name(entry) == QLatin1String("config.json") && entry.isFile());
      const bool weights = name(entry).endsWith(QLatin1String(".safetensors")) || name(entry) == QLatin1String("model.bin");
      if (weights && entry.isFile()) bytes += entry.size();
    }
    if (!config || bytes == 0) return false;
    if (const std::optional<KnownFamily> family = familyOf(path)) {
      add({m_origin, modelNameOf(path), path, bytes, family->sees, family->reads_videos});
    } else if (hears(path)) {
      add({.origin = m_origin, .name = modelNameOf(path), .path = path, .bytes = bytes, .hears = true});
    }
    return true;
  }

  bool hears(const QString& path) {
    if (++m_documents > kMaxDocuments) return false;
    try {
      const auto package = open_package(QFile::encodeName(path).toStdString());
      return package->required(ModelPart::kConfig).root().string("model_type", 64, "") == "whisper";
    } catch (const Exception&) {
      return false;
    }
  }

  std::optional<KnownFamily> familyOf(const QString& path) {
    if (++m_documents > kMaxDocuments) return std::nullopt;
    try {
      const std::string file = QFile::encodeName(path).toStdString() + "/config.json";
      const Json config = load_json(file);
      return known_family(JsonObject(config, file));
    } catch (const Exception&) {
      return std::nullopt;  // left out, as everything that cannot be read
    }
  }

  void add(FoundModel model) {
    model.name += m_revision;
    if (m_found.size() < kMostFoundModels) m_found.push_back(std::move(model));
  }

  ModelOrigin m_origin;
  const InterruptToken& m_interrupt;
  std::function<void(const QFileInfo&)> m_visit;  // of every file, in place of looking for models
  std::vector<FoundModel> m_found;
  QSet<QString> m_walked;
  QString m_revision;  // "@v1.0" while a repository's branch or tag other than main is searched
  int m_left = kMaxEntries;
  int m_documents = 0;
};

constexpr int kMaxParts = 1000;

}  // namespace

std::vector<FoundModel> findModels(const ModelFolders& folders, const InterruptToken& interrupt) {
  std::vector<FoundModel> all;
  QSet<QString> files;
  for (const auto& [origin, path] : folders) {
    Search search(origin, interrupt);
    if (origin == ModelOrigin::kOllama) {
      search.ollama(path);
    } else if (origin == ModelOrigin::kHuggingFace) {
      search.hub(path);
    } else {
      search.folder(path);
    }
    std::vector<FoundModel> found = search.take();
    std::ranges::sort(found, [](const FoundModel& a, const FoundModel& b) {
      const int order = a.name.compare(b.name, Qt::CaseInsensitive);
      return order != 0 ? order < 0 : a.path < b.path;
    });
    for (FoundModel& model : found) {
      const QString real = QFileInfo(model.path).canonicalFilePath();
      if (all.size() >= kMostFoundModels || files.contains(real)) continue;  // a second tag of the same file
      files.insert(real);
      all.push_back(std::move(model));
    }
  }
  return all;
}

QStringList ggufParts(const QString& path) {
  static const QRegularExpression part(QStringLiteral("-(\\d{5})-of-(\\d{5})\\.gguf$"));
  const QRegularExpressionMatch match = part.match(path);
  if (!match.hasMatch()) return {path};
  const int count = match.captured(2).toInt();
  if (match.captured(1).toInt() != 1 || count > kMaxParts) return {};
  QStringList parts;
  for (int i = 1; i <= count; ++i) {
    const QString number = QStringLiteral("-%1-of-%2.gguf").arg(i, 5, 10, QLatin1Char('0')).arg(match.captured(2));
    parts << path.left(match.capturedStart()) + number;
  }
  return parts;
}

QStringList projectorsBeside(const QString& path) {
  QStringList projectors;
  const QDir folder = QFileInfo(path).dir();
  for (const QString& name : folder.entryList({QStringLiteral("*.gguf")}, QDir::Files)) {
    if (names_projector(name.toStdString())) projectors << folder.filePath(name);
  }
  return projectors;
}

}  // namespace winnow::app
