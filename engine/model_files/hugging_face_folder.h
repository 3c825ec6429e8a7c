// A folder as transformers saves it: config.json and its like, tokenizer.json, a chat template, safetensors.
//
// Made by open_package.h; by tests directly. Nothing is opened before it is asked for. The chat template is looked for, in this order, in
// chat_template.jinja, chat_template.json, processor_config.json and tokenizer_config.json (key chat_template: text, or a list of named
// ones of which "default" is taken); the names of bos and eos tokens come from tokenizer_config.json. Weights that are quantised already
// (quantisation_config.h) are tensors in blocks (quantised_tensors.h). A folder as the LLaVA-NeXT repository saves it is told as
// transformers would have saved it (llava_repository.h). Errors: model_package.h; of weights those of weight_files.h.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/model_files/llava_repository.h"
#include "engine/model_files/model_package.h"

namespace winnow {

class HuggingFaceFolder : public ModelPackage {
 public:
  explicit HuggingFaceFolder(std::string folder) : folder_(std::move(folder)) {}

  const std::string& path() const override { return folder_; }
  std::string name() const override;  // of the folder; in the hub's cache of the repository; of one called "model" of what holds it
  const ModelDocument* document(ModelPart part) const override;
  std::string subject(ModelPart part) const override;
  TokenizerFile tokenizer() const override;
  TemplateText chat_template(std::string_view fallback) const override;
  const TensorFiles& tensors() const override;
  // Documents and weights. Of documents every link is followed, a weight file must not lead out of the folder.
  std::vector<std::pair<std::string, RegularFile>> files() const override;

 private:
  const ModelDocument* read(const std::string& file, const JsonLimits& limits) const;
  // Read for retold(), and then nobody has it twice: who asks next takes it along.
  TokenizerFile stored_tokenizer() const;
  const TensorFiles& stored_tensors() const;
  // Null: transformers saved it.
  const LlavaRepositoryFolder* retold() const;
  std::string find_template(const ModelDocument* tokenizer_config, std::string_view fallback) const;

  const std::string folder_;
  mutable std::map<std::string, std::optional<ModelDocument>> documents_;  // by file name; nothing: it is not there
  mutable std::optional<TensorFiles> tensors_;
  mutable std::optional<LlavaRepositoryFolder> retold_;
  mutable std::optional<TokenizerFile> read_tokenizer_;  // that nobody has taken yet
};

}  // namespace winnow
