// A model in a GGUF file, or in a file's parts: documents, tokenizer, chat template and tensors under Hugging Face's names and keys.
//
// Made by open_package.h. Architectures: the table of gguf_config.cpp; others and whatever else a configuration cannot say are
// refused by name before a tensor is read. Metadata become config.json and generation_config.json (gguf_config.h); tensors get their names
// of there, and q and k, which llama.cpp stores with the two halves of a head interleaved where it turns neighbours, are told as such
// (StoredTensor::interleaved), as are norms that are stored with one added. A file without a chat template is taken to speak ChatML if its
// vocabulary has <|im_start|>, otherwise refused. With a projector (gguf_projector.h) both files together are a vision-language model, and
// so is a file with a vision encoder inside (gguf_inner_vision.h); if its template has no pictures, that of the published folders of its
// family is used. Source of keys and names: github.com/ggml-org/ggml, docs/gguf.md, and the Python package gguf (constants.py). Errors:
// model_package.h; gguf_file.h, gguf_tokenizer.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/model_files/gguf_projector.h"
#include "engine/model_files/model_package.h"
#include "engine/weights/gguf_file.h"

namespace winnow {

class GgufModel final : public ModelPackage {
 public:
  // Without projector the vision encoder inside the file, or the projector beside it, if there is one that belongs to it
  // (names_projector(), the first by name), or that Ollama downloaded with it (ollama_folder.h). One that is named and does not belong to
  // it is refused: kUnsupportedModel.
  explicit GgufModel(std::string path, const std::string& projector = {});

  const std::string& path() const override { return path_; }
  std::string name() const override;  // general.name, or of the file
  const ModelDocument* document(ModelPart part) const override;
  std::string subject(ModelPart part) const override;
  TokenizerFile tokenizer() const override;
  TemplateText chat_template(std::string_view fallback) const override;
  const TensorFiles& tensors() const override { return tensors_; }
  std::vector<std::pair<std::string, RegularFile>> files() const override;

 private:
  const GgufMetadata& metadata() const { return file_->metadata(); }
  // The vocabulary; where it has no token for a picture, the one for unknown text is called so.
  std::vector<std::string> tokens() const;
  void see_with(const GgufProjector& projector);

  std::string path_;
  std::shared_ptr<const GgufFile> file_;  // the first part
  TensorFiles tensors_;
  ModelDocument config_;
  ModelDocument generation_;
  const InnerVision* inside_ = nullptr;  // null: it reads text only, or by a projector
  std::string projector_path_;           // empty: it reads text only, or sees by itself
  std::string marker_;                   // of pictures, in place of the unknown token; empty: the vocabulary has it
  std::string projector_template_;       // for a text model that says nothing of pictures; empty: there is none
  std::optional<ModelDocument> processor_;
  std::optional<ModelDocument> image_processor_;
  std::optional<ModelDocument> video_processor_;
};

// True if a file has GGUF's magic; false for unreadable files. For lists; open_package.h reports errors of a chosen file.
bool is_gguf(const std::string& path);

// True if a file name is that of a projector: contains mmproj and ends with .gguf.
bool names_projector(std::string_view file_name);

}  // namespace winnow
