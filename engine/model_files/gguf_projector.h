// The mmproj file of a GGUF model (vision encoder and projector), or what its own file has inside of both, translated to a Hugging Face
// folder's documents and names.
//
// Used by gguf_model.h, which opens it with the text model that it belongs to. Metadata become config.json's vision half and
// preprocessor_config.json, tensors get their names of there (gguf_projector_kinds.h); other kinds are refused by name. What llama.cpp's
// converter does not write (how far apart frames are, a video's bounds) is as the published folders of these models have it. Errors:
// Exception; kUnsupportedModel naming what is not read, kDamagedFile, kLimitExceeded, those of gguf_file.h. No torch. Threads: one at a
// time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/gguf_inner_vision.h"
#include "engine/model_files/gguf_projector_kinds.h"
#include "engine/weights/gguf_file.h"

namespace winnow {

// The text model that a projector is opened for.
struct GgufTextModel {
  std::string architecture;      // general.architecture
  std::int64_t hidden_size = 0;  // <architecture>.embedding_length
  const std::vector<std::string>& tokens;
  bool spare_unknown = false;  // the vocabulary has a token for unknown text, and bytes, so that no text needs it
};

class GgufProjector {
 public:
  // architecture: of the text model; where it has none of the kinds of this file, misfit() says so.
  GgufProjector(const std::string& path, std::string_view architecture);
  // The vision encoder inside a model's own file.
  GgufProjector(std::shared_ptr<const GgufFile> file, const InnerVision& inside);

  const std::string& path() const { return file_->path(); }
  // Why the projector does not fit that model; empty if it does.
  std::optional<std::string> misfit(const GgufTextModel& text) const;

  // The configuration of the family that both are: config.json around `text`, the text model's own, and what says how pictures become
  // pixels.
  Json config(const Json& text, const std::vector<std::string>& tokens) const;
  Json processor() const;        // processor_config.json; null: the family has none
  Json image_processor() const;  // preprocessor_config.json
  Json video_processor() const;  // video_preprocessor_config.json; null: videos go by the images'
  // The chat template for text models whose own ignores pictures; empty: the family has none. text: as config()'s.
  std::string_view chat_template(const Json& text, const std::vector<std::string>& tokens) const;
  // The name of a picture that has no token of its own in the vocabulary.
  std::string_view marker() const { return kind_->markers.front(); }

  // Under their names in the family's folder.
  std::shared_ptr<const TensorFile> tensors() const;
  // The same for a tensor of the text model, whose name is that in a folder of its own.
  std::string name_in_family(const std::string& text_name) const;

 private:
  const GgufMetadata& metadata() const { return file_->metadata(); }
  void take_kind(std::string_view type, std::string_view architecture);
  std::int64_t head_size() const;
  Json with_scaling(Json pixels) const;

  std::shared_ptr<const GgufFile> file_;
  const InnerVision* inside_ = nullptr;
  ProjectorFacts facts_;
  const ProjectorKind* kind_ = nullptr;
};

}  // namespace winnow
