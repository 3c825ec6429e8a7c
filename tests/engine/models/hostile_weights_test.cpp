// The weights of a folder of every family, each tensor in turn missing or of another shape: refused by its name, unless no part of the
// model is made of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/model_files/renamed_tensors.h"
#include "engine/models/registry.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/golden_path.h"

namespace winnow {
namespace {

// A folder whose tensors are told otherwise.
class RetoldFolder final : public ModelPackage {
 public:
  using Change = std::function<void(TensorFile::Tensors&)>;

  RetoldFolder(std::shared_ptr<const ModelPackage> folder, const Change& change) : folder_(std::move(folder)) {
    tensors_.path = folder_->path();
    for (const auto& file : folder_->tensors().files) {
      TensorFile::Tensors told = file->tensors();
      change(told);
      tensors_.files.push_back(std::make_shared<const RenamedTensors>(file, std::move(told)));
    }
  }

  const std::string& path() const override { return folder_->path(); }
  std::string name() const override { return folder_->name(); }
  const ModelDocument* document(ModelPart part) const override { return folder_->document(part); }
  std::string subject(ModelPart part) const override { return folder_->subject(part); }
  TokenizerFile tokenizer() const override { return folder_->tokenizer(); }
  TemplateText chat_template(std::string_view fallback) const override { return folder_->chat_template(fallback); }
  const TensorFiles& tensors() const override { return tensors_; }
  std::vector<std::pair<std::string, RegularFile>> files() const override { return folder_->files(); }

 private:
  std::shared_ptr<const ModelPackage> folder_;
  TensorFiles tensors_;
};

std::int64_t parameters_of(std::shared_ptr<const ModelPackage> package) {
  ModelSource source{.package = std::move(package)};
  return load_model(source)->info().parameter_count;
}

class HostileWeights : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string golden = test_support::golden_folder(GetParam());
    folder_ = std::make_shared<HuggingFaceFolder>(std::filesystem::exists(golden + "/model") ? golden + "/model" : golden);
    parameters_ = parameters_of(folder_);
    for (const auto& file : folder_->tensors().files)
      for (const auto& [name, tensor] : file->tensors()) stored_.emplace_back(name, tensor.shape.empty() ? 0 : tensor.elements());
  }

  // ".1." of "model.layers.1.mlp.up_proj.weight"; empty: the name says no layer. Families call the parts of their models by names of their
  // own.
  static std::string layer_of(const std::string& name) {
    static const std::regex form("(layers?|blocks|h)([.][0-9]+[.])");
    std::smatch found;
    return std::regex_search(name, found, form) ? found[2].str() : "";
  }

  // Refused by the tensor's name; or the model is the same without it, and false.
  bool expect_refused(const std::string& name, const char* reason, const RetoldFolder::Change& change) {
    try {
      EXPECT_EQ(parameters_of(std::make_shared<RetoldFolder>(folder_, change)), parameters_) << name << " went unnoticed";
      return false;
    } catch (const Exception& exception) {
      const Error& error = exception.error();
      EXPECT_EQ(error.code, ErrorCode::kDamagedFile) << name << ": " << error.reason;
      const std::string said = error.subject + ": " + error.reason;
      EXPECT_NE(said.find(reason), std::string::npos) << name << ": " << said;
      EXPECT_NE(said.find(layer_of(name)), std::string::npos) << name << ": " << said;
      return true;
    }
  }

  std::shared_ptr<const HuggingFaceFolder> folder_;
  std::int64_t parameters_ = 0;
  std::vector<std::pair<std::string, std::uint64_t>> stored_;  // names and their elements; bounds of clamps have none
};

TEST_P(HostileWeights, AMissingTensorIsNamedAndTheOthersAreNoParameters) {
  std::uint64_t needed = 0;
  for (const auto& [name, elements] : stored_) {
    if (expect_refused(name, "the folder lacks this weight", [&](TensorFile::Tensors& tensors) { tensors.erase(name); }))
      needed += elements;
  }
  EXPECT_EQ(static_cast<std::int64_t>(needed), parameters_);
}

TEST_P(HostileWeights, ATensorOfAnotherShapeIsNamed) {
  int refused = 0;
  for (const auto& [name, elements] : stored_) {
    refused += expect_refused(name, "the weight has shape",
                              [&](TensorFile::Tensors& tensors) {
                                const auto found = tensors.find(name);
                                if (found == tensors.end()) return;
                                StoredTensor& tensor = found->second;
                                const auto longest = std::ranges::max_element(tensor.shape);
                                if (longest == tensor.shape.end() || *longest == 1) return;
                                tensor.end -= tensor.bytes() / static_cast<std::uint64_t>(*longest);
                                --*longest;
                              })
                   ? 1
                   : 0;
  }
  EXPECT_GE(refused * 2, std::ssize(stored_)) << "most of them are needed";
}

INSTANTIATE_TEST_SUITE_P(Families, HostileWeights,
                         ::testing::Values("gqa_tied", "llava/llava_llama", "llava/next_mistral", "llava/next_video", "qwen2_vl/published",
                                           "qwen2_5_vl/published", "qwen3_vl/published", "qwen3_vl/experts", "qwen3_5/published",
                                           "qwen3_5_moe/published", "smolvlm/smolvlm2_split", "smolvlm/idefics3_plain",
                                           "internvl/qwen2_saved", "internvl/llama_published", "internvl/chat_internlm2",
                                           "gemma3/published", "gemma4/published", "gemma4_large/dense", "gemma4_experts/saved",
                                           "gemma4_unified/published", "glm4v/thinking", "glm4v_moe/published", "lfm2_vl/published",
                                           "minicpmv/published", "minicpmv4_7/published", "mistral3/published", "text_models/llama_biased",
                                           "text_models/qwen3", "text_models/qwen3_moe", "text_models/mixtral", "text_models/falcon_7b",
                                           "text_models/falcon_40b", "text_models/gemma3", "text_models/smollm3", "recurrent_text/qwen3_5",
                                           "recurrent_text/qwen3_5_moe", "recurrent_text/qwen3_next", "recurrent_text/gemma4",
                                           "recurrent_text/lfm2"),
                         testing::folder_info_name);

}  // namespace
}  // namespace winnow
