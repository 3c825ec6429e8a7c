// A model on disk: its documents, tokenizer, chat template and tensors, independent of the file format.
//
// Opened by open_package.h, read by engine/models and engine/generation while a model loads. Documents have the keys of Hugging Face's
// files; a package of another format translates into them, so that every check of the families holds for it, too. Each file is opened once,
// when it is first asked for, and kept: asking again costs nothing. Errors: Exception; kFileNotFound, kFileUnreadable, kDamagedFile,
// kLimitExceeded, kUnsupportedFormat, kUnsupportedModel. No torch. Threads: one at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/file_bytes.h"
#include "engine/base/json_document.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

enum class ModelPart : int {
  kConfig = 1,      // config.json
  kGeneration,      // generation_config.json
  kProcessor,       // processor_config.json
  kImageProcessor,  // preprocessor_config.json
  kVideoProcessor,  // video_preprocessor_config.json
  kWinnow,          // winnow.json
};

struct ModelDocument {
  Json content;
  std::string subject;  // what errors call it: a file

  JsonObject root() const { return JsonObject(content, subject); }
};

// kMarkers: ChatML, because the vocabulary has its markers.
enum class TemplateOrigin : int { kOwn = 1, kFamily, kMarkers };

struct TemplateText {
  std::string source;
  std::string bos;  // texts of the tokens; may be empty
  std::string eos;
  TemplateOrigin origin = TemplateOrigin::kOwn;
};

class ModelPackage {
 public:
  virtual ~ModelPackage() = default;
  ModelPackage(const ModelPackage&) = delete;
  ModelPackage& operator=(const ModelPackage&) = delete;

  virtual const std::string& path() const = 0;  // what was chosen, as bytes
  virtual std::string name() const = 0;         // for people
  // Null: the package has none. Stays where it is as long as the package.
  virtual const ModelDocument* document(ModelPart part) const = 0;
  // The name of a document in errors, also one that is not there.
  virtual std::string subject(ModelPart part) const = 0;
  virtual TokenizerFile tokenizer() const = 0;
  // Made of it at the first call; the family and the loaded model share it, because some vocabularies take a second to read.
  std::shared_ptr<const Tokenizer> shared_tokenizer() const;
  // fallback: of the model family, for a package without one; empty: there is none, and kUnsupportedModel.
  virtual TemplateText chat_template(std::string_view fallback) const = 0;
  // Headers are read and checked at the first call.
  virtual const TensorFiles& tensors() const = 0;
  // All that it is read from, by name, opened anew: two models are the same if these are.
  virtual std::vector<std::pair<std::string, RegularFile>> files() const = 0;

  // kFileNotFound where there is none.
  const ModelDocument& required(ModelPart part) const;

 protected:
  ModelPackage() = default;

 private:
  mutable std::shared_ptr<const Tokenizer> shared_tokenizer_;
};

}  // namespace winnow
