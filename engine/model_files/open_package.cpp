#include "engine/model_files/open_package.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "engine/base/error.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/weights/foreign_format.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

// A Hugging Face cache has its models three folders down: models--<owner>--<name>/snapshots/<revision>.
constexpr int kDepth = 3;
// A larger tree is searched no further: this only finds a better sentence for an error.
constexpr int kMaxEntries = 20'000;

bool has_file(const fs::path& folder, const char* name) {
  std::error_code error;
  return fs::is_regular_file(folder / name, error);
}

bool looks_like_a_model(const fs::path& folder) {
  return has_file(folder, "config.json") && (has_file(folder, "model.safetensors") || has_file(folder, "model.safetensors.index.json"));
}

// Sorted. Links to folders are not followed.
std::vector<fs::path> models_below(const fs::path& folder) {
  std::vector<fs::path> models;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (int seen = 0; !error && entry != fs::recursive_directory_iterator() && seen < kMaxEntries; entry.increment(error), ++seen) {
    std::error_code unknown;
    if (!entry->is_directory(unknown) || entry->is_symlink(unknown)) continue;
    const bool model = looks_like_a_model(entry->path());
    if (model) models.push_back(entry->path());
    if (model || entry.depth() + 1 >= kDepth) entry.disable_recursion_pending();
  }
  std::ranges::sort(models);
  return models;
}

void check_model_folder(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) throw Exception(ErrorCode::kModelFolderMissing, folder, "the model folder does not exist");
  if (!fs::is_directory(status)) {
    refuse_foreign_name(folder);
    throw Exception(ErrorCode::kNoModel, folder, "a model is a folder, this is a file");
  }
  if (fs::exists(fs::status(fs::path(folder) / "config.json", error))) return;
  const std::vector<fs::path> models = models_below(folder);
  if (models.size() == 1)
    throw Exception(ErrorCode::kModelInside, models.front().string(), "the model is in this folder, below the chosen one");
  if (!models.empty()) {
    throw Exception(ErrorCode::kModelInside, models.front().string(),
                    "this is the first of " + std::to_string(models.size()) + " model folders below the chosen one");
  }
  refuse_foreign_folder(folder);
  throw Exception(ErrorCode::kNoModel, folder, "a model folder has a config.json, this has none");
}

}  // namespace

std::unique_ptr<ModelPackage> open_package(const std::string& path) {
  check_model_folder(path);
  return std::make_unique<HuggingFaceFolder>(path);
}

}  // namespace winnow
