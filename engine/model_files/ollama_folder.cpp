#include "engine/model_files/ollama_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "engine/base/json_document.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr JsonLimits kManifestLimits{.max_bytes = std::uint64_t{1} << 18, .max_depth = 16, .max_elements = 4096};
constexpr std::size_t kMaxLayers = 64;
constexpr std::size_t kMaxText = 256;
constexpr std::size_t kMaxManifests = 2000;
constexpr std::string_view kDigest = "sha256:";
constexpr std::string_view kBlob = "sha256-";
constexpr std::size_t kHexDigits = 64;

bool is_named(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() != prefix.size() + kHexDigits) return false;
  return std::ranges::all_of(name.substr(prefix.size()), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// Empty: no such layer, or one that leads elsewhere.
std::string blob_of_layer(const std::string& models, const JsonObject& manifest, std::string_view type) {
  for (const Json& entry : manifest.list("layers", kMaxLayers)) {
    const JsonObject layer(entry, manifest.file(), "layers");
    if (layer.string("mediaType", kMaxText, "") != type) continue;
    const std::string digest = layer.string("digest", kMaxText, "");
    if (!is_named(digest, kDigest)) return {};
    return models + "/blobs/" + std::string(kBlob) + digest.substr(kDigest.size());
  }
  return {};
}

}  // namespace

std::optional<OllamaModel> read_ollama_manifest(const std::string& models, const std::string& manifest) {
  try {
    const Json content = load_json(manifest, kManifestLimits);
    const JsonObject root(content, manifest);
    OllamaModel named{blob_of_layer(models, root, "application/vnd.ollama.image.model"),
                      blob_of_layer(models, root, "application/vnd.ollama.image.projector")};
    if (named.model.empty()) return std::nullopt;
    return named;
  } catch (const Exception&) {
    return std::nullopt;
  }
}

std::vector<std::string> ollama_projectors(const std::string& blob) {
  std::error_code error;
  const fs::path file = fs::absolute(blob, error);
  if (!is_named(file.filename().string(), kBlob) || file.parent_path().filename() != "blobs") return {};
  const fs::path models = file.parent_path().parent_path();
  std::vector<std::string> manifests;
  fs::recursive_directory_iterator entry(models / "manifests", fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator() && manifests.size() < kMaxManifests; entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_regular_file(unknown)) manifests.push_back(entry->path().string());
  }
  std::ranges::sort(manifests);
  std::vector<std::string> projectors;
  for (const std::string& manifest : manifests) {
    const std::optional<OllamaModel> named = read_ollama_manifest(models.string(), manifest);
    if (named && fs::path(named->model).filename() == file.filename() && !named->projector.empty()) projectors.push_back(named->projector);
  }
  return projectors;
}

}  // namespace winnow
