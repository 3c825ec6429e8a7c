// A Whisper folder as CTranslate2 saves it (model.bin, config.json, tokenizer.json), told as transformers would have saved it.
//
// Made by open_package.h; faster-whisper's models are of this form. model.bin is a list of variables, little-endian: name, shape, type,
// bytes (CTranslate2's models/model.cc, versions 5 and 6). Fused matrices are told as their parts, which lie side by side. Weights in fp32,
// fp16 and bf16 are read; those in 8 bits are refused by name. Errors: model_package.h; kUnsupportedModel for another kind of model. No
// torch. Threads: one at a time.
#pragma once

#include <optional>
#include <string>

#include "engine/model_files/hugging_face_folder.h"

namespace winnow {

// True if the folder has a model.bin that begins as one of CTranslate2's does.
bool holds_ctranslate2(const std::string& folder);

class CTranslate2Folder final : public ModelPackage {
 public:
  explicit CTranslate2Folder(std::string folder);

  const std::string& path() const override { return stored_.path(); }
  std::string name() const override { return stored_.name(); }
  const ModelDocument* document(ModelPart part) const override;
  std::string subject(ModelPart part) const override { return stored_.subject(part); }
  TokenizerFile tokenizer() const override { return stored_.tokenizer(); }
  TemplateText chat_template(std::string_view fallback) const override { return stored_.chat_template(fallback); }
  const TensorFiles& tensors() const override { return tensors_; }
  std::vector<std::pair<std::string, RegularFile>> files() const override;

 private:
  const HuggingFaceFolder stored_;
  TensorFiles tensors_;
  ModelDocument config_, generation_;
};

}  // namespace winnow
