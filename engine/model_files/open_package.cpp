#include "engine/model_files/open_package.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/base/error.h"
#include "engine/model_files/ctranslate2_folder.h"
#include "engine/model_files/ggml_whisper.h"
#include "engine/model_files/gguf_model.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/weights/foreign_format.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

// A Hugging Face cache has its models three folders down: models--<owner>--<name>/snapshots/<revision>.
constexpr int kDepth = 3;
// A larger tree is searched no further: this only finds a better sentence for an error.
constexpr int kFolderMaxEntries = 20'000;

bool has_file(const fs::path& folder, const char* name) {
  std::error_code error;
  return fs::is_regular_file(folder / name, error);
}

bool looks_like_a_folder(const fs::path& folder) {
  return has_file(folder, "config.json") && (has_file(folder, "model.safetensors") || has_file(folder, "model.safetensors.index.json"));
}

// A model by its name: not a projector of pictures, which belongs to one, nor a part but the first.
bool names_a_gguf(const fs::path& file) {
  const std::string name = file.filename().string();
  if (file.extension() != ".gguf" || names_projector(name)) return false;
  const std::size_t of = name.rfind("-of-");
  constexpr std::string_view kFirst = "-00001";
  return of == std::string::npos || of < kFirst.size() || name.compare(of - kFirst.size(), kFirst.size(), kFirst) == 0;
}

// Folders and GGUF files, sorted. Links to folders are not followed.
std::vector<fs::path> models_below(const fs::path& folder) {
  std::vector<fs::path> models;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (int seen = 0; !error && entry != fs::recursive_directory_iterator() && seen < kFolderMaxEntries; entry.increment(error), ++seen) {
    std::error_code unknown;
    if (names_a_gguf(entry->path()) && entry->is_regular_file(unknown)) models.push_back(entry->path());
    if (!entry->is_directory(unknown) || entry->is_symlink(unknown)) continue;
    const bool model = looks_like_a_folder(entry->path());
    if (model) models.push_back(entry->path());
    if (model || entry.depth() + 1 >= kDepth) entry.disable_recursion_pending();
  }
  std::ranges::sort(models);
  return models;
}

// A folder without config.json: the only GGUF file that it holds, or an error that says what is there.
std::string model_inside(const std::string& folder) {
  const std::vector<fs::path> models = models_below(folder);
  const bool only_file =
      models.size() == 1 && names_a_gguf(models.front()) && models.front().parent_path() == fs::path(folder + "/").parent_path();
  if (only_file) return models.front().string();
  if (models.size() == 1)
    throw Exception(ErrorCode::kModelInside, models.front().string(), "the model is this one, below the chosen folder");
  if (!models.empty()) {
    throw Exception(ErrorCode::kModelInside, models.front().string(),
                    "this is the first of " + std::to_string(models.size()) + " models below the chosen folder");
  }
  refuse_foreign_folder(folder);
  throw Exception(ErrorCode::kNoModel, folder, "a model folder has a config.json or a GGUF file, this has neither");
}

// A file that does not begin as a model does.
[[noreturn]] void refuse_file(const std::string& path) {
  refuse_foreign_content(RegularFile(path));
  if (path.ends_with(".gguf")) {
    throw Exception(ErrorCode::kDamagedFile, path, "its name says GGUF, but it does not begin as a GGUF file does: download it again");
  }
  if (path.ends_with(".safetensors"))
    throw Exception(ErrorCode::kNoModel, path, "these are weights alone: choose the folder with the config.json that they belong to");
  throw Exception(ErrorCode::kNoModel, path, "a model is a folder or a GGUF file, this is neither");
}

}  // namespace

std::unique_ptr<ModelPackage> open_package(const std::string& path, const std::string& projector) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw Exception(ErrorCode::kModelFolderMissing, path, "there is no such model folder or file");
  if (!fs::is_directory(status)) {
    if (fs::exists(path + ".aria2", error))
      throw Exception(ErrorCode::kNotFetched, path, "its download has not ended: aria2's list of what is missing lies beside it");
    const RegularFile file(path);
    if (begins_as_ggml_whisper(file)) {
      if (!projector.empty()) throw Exception(ErrorCode::kInvalidArgument, projector, "a projector belongs to a GGUF file");
      return std::make_unique<GgmlWhisper>(path);
    }
    if (!begins_as_gguf(file)) refuse_file(path);
    return std::make_unique<GgufModel>(path, projector);
  }
  if (!fs::exists(fs::status(fs::path(path) / "config.json", error))) return std::make_unique<GgufModel>(model_inside(path), projector);
  if (!projector.empty())
    throw Exception(ErrorCode::kInvalidArgument, projector, "a projector belongs to a GGUF file; the folder " + path + " has its own");
  if (holds_ctranslate2(path)) return std::make_unique<CTranslate2Folder>(path);
  return std::make_unique<HuggingFaceFolder>(path);
}

}  // namespace winnow
