#include "engine/model_files/gguf_projector.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/model_files/renamed_tensors.h"

namespace winnow {
namespace {

constexpr const char* kType = "clip.projector_type";
constexpr const char* kVisionType = "clip.vision.projector_type";  // of files that hear, too

}  // namespace

GgufProjector::GgufProjector(const std::string& path) : file_(std::make_shared<const GgufFile>(path)), facts_(*file_) {
  const GgufMetadata& from = metadata();
  if (from.string("general.architecture", "") != "clip")
    from.refuse(ErrorCode::kUnsupportedModel, "general.architecture", "this is not the file of a model's eyes (mmproj)");
  const char* const key = from.has(kType) ? kType : kVisionType;
  const std::string type = from.string(key);
  const auto found = std::ranges::find_if(projector_kinds(), [&](const ProjectorKind& each) { return type == each.type; });
  if (found == projector_kinds().end()) {
    std::string known;
    for (const ProjectorKind& each : projector_kinds()) known.append(known.empty() ? "" : ", ").append(each.type);
    from.refuse(
        ErrorCode::kUnsupportedModel, key,
        "the engine does not run the projector " + (type.size() <= 64 ? "\"" + type + "\"" : "of this file") + "; it runs " + known);
  }
  kind_ = &*found;
}

std::optional<std::string> GgufProjector::misfit(const GgufTextModel& text) const {
  if (text.architecture != kind_->architecture)
    return "its projector \"" + std::string(kind_->type) + "\" belongs to a text model of the architecture " + kind_->architecture;
  if (const std::int64_t width = facts_.integer("projection_dim"); width != text.hidden_size) {
    return "it makes tokens of " + std::to_string(width) + " features, and the text model's have " + std::to_string(text.hidden_size);
  }
  for (const std::string_view marker : kind_->markers) {
    if (std::ranges::find(text.tokens, marker) == text.tokens.end())
      return "the text model's vocabulary lacks " + std::string(marker) + ", which stands for a picture";
  }
  return std::nullopt;
}

Json GgufProjector::config(const Json& text, const std::vector<std::string>& tokens) const {
  Json config = kind_->config(*kind_, facts_, text, tokens);
  config["architectures"] = {kind_->class_name};
  config["model_type"] = kind_->model_type;
  config["tie_word_embeddings"] = text.at("tie_word_embeddings");
  return config;
}

Json GgufProjector::with_scaling(Json pixels) const {
  pixels["image_mean"] = facts_.three_reals("image_mean");
  pixels["image_std"] = facts_.three_reals("image_std");
  return pixels;
}

Json GgufProjector::processor() const { return kind_->processor == nullptr ? Json() : kind_->processor(facts_); }

Json GgufProjector::image_processor() const { return with_scaling(kind_->image_processor(facts_)); }

Json GgufProjector::video_processor() const {
  return kind_->video_processor == nullptr ? Json() : with_scaling(kind_->video_processor(facts_));
}

std::shared_ptr<const TensorFile> GgufProjector::tensors() const {
  TensorFile::Tensors named;
  for (const auto& [stored, tensor] : file_->tensors()) {
    const auto name = name_in_folder(*kind_, facts_, stored);
    if (!name) continue;
    StoredTensor renamed = tensor;
    renamed.with_one = projector_stored_with_one(stored);
    named.emplace(*name, std::move(renamed));
  }
  return std::make_shared<const RenamedTensors>(file_, std::move(named));
}

std::string GgufProjector::name_in_family(const std::string& text_name) const {
  constexpr std::string_view kModel = "model.";
  if (!text_name.starts_with(kModel)) return text_name;
  return std::string(kind_->text_prefix) + text_name.substr(kModel.size());
}

}  // namespace winnow
