// A copy of a golden folder that a test may damage.
#pragma once

#include <ATen/ATen.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/registry.h"
#include "engine/weights/safetensors_writer.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/golden_tensors.h"

namespace winnow::test_support {

class FolderCopy {
 public:
  explicit FolderCopy(const std::string& name) {
    std::string pattern = (std::filesystem::temp_directory_path() / "winnow-model-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
    const std::filesystem::path golden = golden_folder(name);  // of a language model it holds the folder's files
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::exists(golden / "model") ? golden / "model" : golden))
      std::filesystem::copy(entry.path(), path_ / entry.path().filename());
  }
  ~FolderCopy() { std::filesystem::remove_all(path_); }

  void rewrite_weights(const std::function<void(std::map<std::string, at::Tensor>&)>& change) const {
    const std::string file = (path_ / "model.safetensors").string();
    std::map<std::string, at::Tensor> tensors;
    {
      const GoldenTensors stored(file);
      for (const std::string& name : stored.names()) tensors[name] = stored.load(name);
    }
    change(tensors);
    write_safetensors(file, {tensors.begin(), tensors.end()});
  }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path_ / file) << text; }

  ModelSource source() const { return {.package = std::make_shared<HuggingFaceFolder>(path_.string())}; }

 private:
  std::filesystem::path path_;
};

}  // namespace winnow::test_support
