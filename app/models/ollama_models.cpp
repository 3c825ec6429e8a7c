#include "app/models/ollama_models.h"

#include <QDir>
#include <QFile>
#include <QStringList>
#include <algorithm>
#include <cctype>
#include <string>

#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

constexpr JsonLimits kManifestLimits{.max_bytes = std::uint64_t{1} << 18, .max_depth = 16, .max_elements = 4096};
constexpr std::size_t kMaxLayers = 64;
constexpr std::size_t kMaxText = 256;
constexpr char kModelLayer[] = "application/vnd.ollama.image.model";
constexpr std::size_t kHexDigits = 64;

// Whoever wrote the manifest may name a digest and nothing that leads elsewhere.
bool isDigest(const std::string& text) {
  constexpr std::string_view kPrefix = "sha256:";
  if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + kHexDigits) return false;
  return std::all_of(text.begin() + kPrefix.size(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

}  // namespace

std::optional<QString> ollamaBlob(const QString& models, const QString& manifest) {
  try {
    const std::string file = QFile::encodeName(manifest).toStdString();
    const Json content = load_json(file, kManifestLimits);
    for (const Json& entry : JsonObject(content, file).list("layers", kMaxLayers)) {
      const JsonObject layer(entry, file, "layers");
      if (layer.string("mediaType", kMaxText, "") != kModelLayer) continue;
      std::string digest = layer.string("digest", kMaxText, "");
      if (!isDigest(digest)) return std::nullopt;
      std::ranges::replace(digest, ':', '-');
      return models + QStringLiteral("/blobs/") + QString::fromStdString(digest);
    }
  } catch (const Exception&) {
    return std::nullopt;  // left out, as everything that cannot be read
  }
  return std::nullopt;
}

QString ollamaName(const QString& manifests, const QString& manifest) {
  QStringList parts = QDir(manifests).relativeFilePath(manifest).split(QLatin1Char('/'));
  const QString tag = parts.takeLast();
  if (parts.size() > 1 && parts.first() == QLatin1String("registry.ollama.ai")) parts.removeFirst();
  if (parts.size() > 1 && parts.first() == QLatin1String("library")) parts.removeFirst();
  return parts.join(QLatin1Char('/')) + QLatin1Char(':') + tag;
}

}  // namespace winnow::app
