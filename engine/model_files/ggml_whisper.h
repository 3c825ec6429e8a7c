// A Whisper model in a file of whisper.cpp (ggml-base.en.bin), told as transformers would have saved it.
//
// Made by open_package.h. One file, little-endian: sizes, mel filters (skipped: the engine has the same), the vocabulary's bytes without
// special tokens, and tensors with their names before them, in fp32, fp16 or the blocks of ggml that GGUF files have as well. The size of
// the vocabulary says which special tokens and languages there are. What must not be written (no speech, symbols) the file does not say;
// it is found by OpenAI's rule (whisper/tokenizer.py), which is where transformers' lists come from. Every count, length and shape is
// checked before memory is taken for it. Source: github.com/ggml-org/whisper.cpp, models/convert-pt-to-ggml.py. Errors: model_package.h;
// kDamagedFile, kUnsupportedFormat, kUnsupportedModel with "<file>" or "<file>: <tensor>" as subject. No torch. Threads: one at a time.
#pragma once

#include <string>

#include "engine/model_files/model_package.h"

namespace winnow {

// True if it begins with ggml's magic and a vocabulary as large as Whisper's; other models were stored so before GGUF.
bool begins_as_ggml_whisper(const RegularFile& file);

class GgmlWhisper final : public ModelPackage {
 public:
  explicit GgmlWhisper(std::string path);

  const std::string& path() const override { return path_; }
  std::string name() const override;
  const ModelDocument* document(ModelPart part) const override;
  std::string subject(ModelPart /*part*/) const override { return path_; }
  TokenizerFile tokenizer() const override { return tokenizer_; }
  TemplateText chat_template(std::string_view fallback) const override;
  const TensorFiles& tensors() const override { return tensors_; }
  std::vector<std::pair<std::string, RegularFile>> files() const override;

 private:
  const std::string path_;
  ModelDocument config_, generation_;
  TokenizerFile tokenizer_;
  TensorFiles tensors_;
};

}  // namespace winnow
