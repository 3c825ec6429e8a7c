// Golden folders as the newest transformers saves them (tests/golden/saved_again, by make_saved_again_golden.py): its documents beside the
// folder's own tokenizer and weights.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/weights/safetensors_writer.h"
#include "tests/support/golden_path.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/scratch_folder.h"

namespace winnow::test_support {

enum class SavedModels : int { kSeeing = 1, kOfText = 2 };

// "qwen2_vl/published" and so on.
inline std::vector<std::string> saved_again(SavedModels wanted) {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder("saved_again/"))) {
    std::string name = entry.path().stem().string();
    if (name == "manifest") continue;
    name[name.find('-')] = '/';
    const bool sees = std::filesystem::exists(golden_folder(name) + "/model");
    if (sees == (wanted == SavedModels::kSeeing)) folders.push_back(name);
  }
  std::ranges::sort(folders);
  return folders;
}

inline void write_saved_again(std::string name, const test::ScratchFolder& folder) {
  const std::filesystem::path golden = golden_folder(name);
  const std::filesystem::path model = std::filesystem::exists(golden / "model") ? golden / "model" : golden;
  std::ranges::replace(name, '/', '-');
  const Json saved = load_json(golden_folder("saved_again/") + name + ".json");
  for (const auto& [file, content] : saved.at("documents").items())
    folder.write(file, content.is_string() ? content.get<std::string>() : content.dump());
  for (const auto& entry : std::filesystem::directory_iterator(model)) {
    const std::string file = entry.path().filename().string();
    const bool weights = file.find("safetensors") != std::string::npos && file != "golden.safetensors";
    if (weights || file == "tokenizer.json") std::filesystem::copy(entry.path(), folder.file(file));
  }
  if (saved.at("turned").empty()) return;
  std::map<std::string, at::Tensor> tensors;
  {
    const GoldenTensors stored(folder.file("model.safetensors"));
    for (const std::string& each : stored.names()) tensors[each] = stored.load(each);
  }
  for (const Json& each : saved.at("turned")) tensors.at(each) = tensors.at(each).transpose(-1, -2).contiguous();
  write_safetensors(folder.file("model.safetensors"), {tensors.begin(), tensors.end()});
}

}  // namespace winnow::test_support
