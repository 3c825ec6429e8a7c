#include "engine/api/stored_files.h"

#include <algorithm>
#include <initializer_list>

#include "engine/base/error.h"
#include "engine/model_files/open_package.h"
#include "engine/weights/safetensors.h"

namespace winnow {
namespace {

bool holds_tensors(const std::string& path, std::initializer_list<const char*> names) {
  try {
    const SafetensorsFile file(path);
    return std::ranges::all_of(names, [&](const char* name) { return file.tensors().contains(name); });
  } catch (const Exception&) {
    return false;
  }
}

}  // namespace

std::vector<std::pair<std::string, RegularFile>> files_of_model(const std::string& path, const std::string& projector) {
  return open_package(path, projector)->files();
}

bool is_saved_cache(const std::string& path) { return holds_tensors(path, {"conversation", "hash"}); }

bool is_export(const std::string& path) { return holds_tensors(path, {"input_ids", "generated"}); }

}  // namespace winnow
