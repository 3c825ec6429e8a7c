#include "app/programs/cli/output_target.h"

#include <filesystem>

#include "engine/api/stored_files.h"
#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow::cli {
namespace {

namespace fs = std::filesystem;

// what: "saved cache", which is_one tells.
void require_target(const std::string& path, std::span<const std::string> inputs, const std::string& what,
                    bool (*is_one)(const std::string& path)) {
  require_replaceable(path);
  for (const std::string& input : inputs) {
    if (same_file(path, input)) throw Exception(ErrorCode::kInvalidArgument, path, "is an input of this command; choose another name");
  }
  std::error_code nothing_there;
  const std::uintmax_t bytes = fs::file_size(path, nothing_there);
  if (nothing_there || bytes == 0 || is_one(path)) return;
  throw Exception(ErrorCode::kInvalidArgument, path, "is no " + what + " and is not overwritten; choose another name");
}

}  // namespace

std::vector<std::string> inputs_of(const TurnOptions& options, const std::string& model_folder) {
  std::vector<std::string> inputs = options.images;
  inputs.insert(inputs.end(), options.videos.begin(), options.videos.end());
  inputs.insert(inputs.end(), options.documents.begin(), options.documents.end());
  if (!options.subtitles.empty()) inputs.push_back(options.subtitles);
  if (!options.recipe_file.empty()) inputs.push_back(options.recipe_file);
  std::error_code ignored;  // a folder that cannot be listed is refused when the model is loaded
  for (const auto& entry : fs::directory_iterator(model_folder, ignored)) inputs.push_back(entry.path().string());
  return inputs;
}

void require_cache_target(const std::string& path, std::span<const std::string> inputs) {
  require_target(path, inputs, "saved cache", is_saved_cache);
}

void require_export_target(const std::string& path, std::span<const std::string> inputs) {
  require_target(path, inputs, "export", is_export);
}

}  // namespace winnow::cli
