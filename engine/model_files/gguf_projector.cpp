#include "engine/model_files/gguf_projector.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/model_files/renamed_tensors.h"
#include "engine/text/quoted_name.h"

namespace winnow {
namespace {

constexpr const char* kType = "clip.projector_type";
constexpr const char* kVisionType = "clip.vision.projector_type";  // of files that hear, too

}  // namespace

GgufProjector::GgufProjector(const std::string& path, std::string_view architecture)
    : file_(std::make_shared<const GgufFile>(path)), facts_(*file_) {
  const GgufMetadata& from = metadata();
  if (from.string("general.architecture", "") != "clip")
    from.refuse(ErrorCode::kUnsupportedModel, "general.architecture", "this is not an mmproj file");
  const char* const key = from.has(kType) || !from.has(kVisionType) ? kType : kVisionType;
  // The first converter knew no other than LLaVA's.
  const std::string type = from.boolean("clip.has_llava_projector", false) ? from.string(key, "mlp") : from.string(key);
  take_kind(type, architecture);
  if (kind_ == nullptr) {
    std::set<std::string> kinds;
    for (const ProjectorKind& each : projector_kinds()) kinds.insert(each.type);
    std::string known;
    for (const std::string& each : kinds) known.append(known.empty() ? "" : ", ").append(each);
    from.refuse(ErrorCode::kUnsupportedModel, key, "the engine does not run the projector " + quoted_name(type) + "; it runs " + known);
  }
  if (const auto obstacle = kind_->obstacle == nullptr ? std::nullopt : kind_->obstacle(facts_))
    from.refuse(ErrorCode::kUnsupportedModel, key, *obstacle);
}

GgufProjector::GgufProjector(std::shared_ptr<const GgufFile> file, const InnerVision& inside)
    : file_(std::move(file)), inside_(&inside), facts_(*file_, inside_) {
  take_kind(inside.type, inside.architecture);
  require(kind_ != nullptr, "a vision encoder inside a file is one of the kinds that are read beside one");
}

void GgufProjector::take_kind(std::string_view type, std::string_view architecture) {
  for (const ProjectorKind& each : projector_kinds()) {
    if (type != each.type || (each.is_of != nullptr && !each.is_of(facts_))) continue;
    if (kind_ == nullptr || std::ranges::find(each.architectures, architecture) != each.architectures.end()) kind_ = &each;
  }
}

std::optional<std::string> GgufProjector::misfit(const GgufTextModel& text) const {
  if (std::ranges::find(kind_->architectures, text.architecture) == kind_->architectures.end()) {
    return "its projector \"" + std::string(kind_->type) + "\" belongs to a text model of the architecture " +
           std::string(kind_->architectures.front());
  }
  const auto width_of_file = [&] { return kind_->width != nullptr ? kind_->width(facts_) : facts_.integer("projection_dim"); };
  // A model's own file does not tell it: the shapes of its matrices have to fit.
  const std::int64_t width = inside_ != nullptr ? text.hidden_size : width_of_file();
  if (width != text.hidden_size) {
    return "it makes tokens of " + std::to_string(width) + " features, and the text model's have " + std::to_string(text.hidden_size);
  }
  for (const std::string_view marker : kind_->markers) {
    const bool may_lack = kind_->marker_may_lack && marker == kind_->markers.front() && text.spare_unknown;
    if (std::ranges::find(text.tokens, marker) == text.tokens.end() && !may_lack)
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

std::string_view GgufProjector::chat_template(const Json& text, const std::vector<std::string>& tokens) const {
  return kind_->chat_template == nullptr ? std::string_view() : kind_->chat_template(facts_, text, tokens);
}

std::shared_ptr<const TensorFile> GgufProjector::tensors() const {
  TensorFile::Tensors named;
  for (const auto& [stored, tensor] : facts_.tensors()) {
    const auto name = name_in_folder(*kind_, facts_, stored);
    if (!name) continue;
    StoredTensor told = tensor;
    if (std::ranges::find(kind_->of_three_dimensions, stored) != kind_->of_three_dimensions.end())
      while (told.shape.size() < 3) told.shape.insert(told.shape.begin(), 1);
    told.with_one = std::ranges::find(kind_->with_one, stored) != kind_->with_one.end();
    const bool turned = stored.ends_with(".attn_q.weight") || stored.ends_with(".attn_k.weight");
    if (turned && kind_->interleaved && inside_ == nullptr) told.interleaved = head_size();
    named.emplace(*name, std::move(told));
  }
  return std::make_shared<const RenamedTensors>(file_, std::move(named));
}

std::int64_t GgufProjector::head_size() const {
  const std::int64_t heads = facts_.integer("attention.head_count");
  return heads > 0 ? facts_.integer("embedding_length") / heads : 0;
}

std::string GgufProjector::name_in_family(const std::string& text_name) const {
  constexpr std::string_view kModel = "model.";
  if (!text_name.starts_with(kModel)) return text_name;
  return std::string(kind_->text_prefix) + text_name.substr(kModel.size());
}

}  // namespace winnow
