#include "engine/model_files/llava_repository.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "engine/base/error.h"
#include "engine/model_files/family_templates.h"
#include "engine/model_files/renamed_tensors.h"
#include "engine/weights/weight_names.h"

namespace winnow {
namespace {

constexpr char kArchitecture[] = "LlavaQwenForCausalLM";
constexpr std::size_t kRepositoryNameBytes = 1024;

// The one tower of the published folders; the rest of its sizes are its tensors'.
constexpr std::string_view kTower = "siglip-so400m-patch14-384";
constexpr std::int64_t kSidePx = 384;
constexpr std::int64_t kHeadSize = 72;
constexpr std::int64_t kLayersThatRun = 26;  // of 27: the repository's code deletes the last
constexpr char kTowerPrefix[] = "vision_tower.vision_model.";

constexpr std::array<WeightNameRule, 6> kRepositoryNames = {{
    {"model.vision_tower.vision_tower.vision_model.", kTowerPrefix},
    {"model.mm_projector.0.", "multi_modal_projector.linear_1."},
    {"model.mm_projector.2.", "multi_modal_projector.linear_2."},
    {"model.image_newline", "image_newline"},
    {"model.", "language_model.model."},
    {"lm_head.", "language_model.lm_head."},
}};

[[noreturn]] void unsupported(const JsonObject& config, const char* key, const std::string& reason) {
  config.refuse(ErrorCode::kUnsupportedModel, key, reason);
}

void refuse_what_is_missing(const JsonObject& config) {
  // A path on the disk of whoever trained the model, or the owner's name, stands before it.
  if (!config.string("mm_vision_tower", kRepositoryNameBytes).ends_with(kTower))
    unsupported(config, "mm_vision_tower", "the only tower that is known without its own files is google/" + std::string(kTower));
  if (config.string("mm_projector_type", kRepositoryNameBytes, "linear") != "mlp2x_gelu")
    unsupported(config, "mm_projector_type", "only \"mlp2x_gelu\" is implemented");
  if (config.has("mm_resampler_type")) unsupported(config, "mm_resampler_type", "resamplers are not implemented");
  for (const char* key : {"mm_use_im_start_end", "mm_use_im_patch_token"}) {
    if (config.boolean(key, false)) unsupported(config, key, "tokens around pictures are not implemented");
  }
}

const StoredTensor& repository_find_tensor(const TensorFiles& tensors, const std::string& name) {
  for (const auto& file : tensors.files) {
    if (const auto found = file->tensors().find(name); found != file->tensors().end()) return found->second;
  }
  throw Exception(ErrorCode::kDamagedFile, tensors.path + ": " + name, "the tensor is missing");
}

std::int64_t dimension(const TensorFiles& tensors, const std::string& name, std::size_t rank, std::size_t axis) {
  const StoredTensor& tensor = repository_find_tensor(tensors, name);
  if (tensor.shape.size() != rank)
    throw Exception(ErrorCode::kDamagedFile, tensors.path + ": " + name, "it has not " + std::to_string(rank) + " dimensions");
  return tensor.shape[axis];
}

// One more than the highest layer of the tower that has a tensor.
std::int64_t tower_layers(const TensorFiles& tensors) {
  const std::string prefix = std::string(kTowerPrefix) + "encoder.layers.";
  std::int64_t layers = 0;
  for (const auto& file : tensors.files) {
    for (auto entry = file->tensors().lower_bound(prefix); entry != file->tensors().end() && entry->first.starts_with(prefix); ++entry) {
      std::int64_t layer = 0;
      const std::string_view number = std::string_view(entry->first).substr(prefix.size());
      if (std::from_chars(number.data(), number.data() + number.size(), layer).ec != std::errc()) continue;
      layers = std::max(layers, std::min(layer, kLayersThatRun) + 1);
    }
  }
  return layers;
}

TensorFiles renamed(const TensorFiles& stored) {
  TensorFiles renamed{.path = stored.path};
  for (const auto& file : stored.files) {
    TensorFile::Tensors tensors;
    for (const auto& [name, tensor] : file->tensors()) {
      if (!tensors.emplace(canonical_weight_name(name, kRepositoryNames), tensor).second)
        throw Exception(ErrorCode::kDamagedFile, file->path() + ": " + name, "the tensor is there under two names");
    }
    renamed.files.push_back(std::make_shared<const RenamedTensors>(file, std::move(tensors)));
  }
  return renamed;
}

Json tower(const TensorFiles& tensors) {
  const std::string patches = std::string(kTowerPrefix) + "embeddings.patch_embedding.weight";
  const std::string first = std::string(kTowerPrefix) + "encoder.layers.0.mlp.fc1.weight";
  const std::int64_t hidden = dimension(tensors, patches, 4, 0);
  return {{"model_type", "siglip_vision_model"},
          {"hidden_size", hidden},
          {"intermediate_size", dimension(tensors, first, 2, 0)},
          {"num_hidden_layers", std::min(tower_layers(tensors), kLayersThatRun)},
          {"num_attention_heads", std::max<std::int64_t>(hidden / kHeadSize, 1)},
          {"image_size", kSidePx},
          {"patch_size", dimension(tensors, patches, 4, 3)},
          {"vision_use_head", false}};
}

// Those of the texts that the vocabulary has no token for, behind its last one.
std::vector<AddedToken> media_tokens(const TokenizerFile& tokenizer, const std::array<const char*, 2>& texts) {
  std::int64_t next = 0;
  for (const auto& [text, id] : tokenizer.vocabulary) next = std::max(next, id + 1);
  for (const AddedToken& token : tokenizer.added_tokens) next = std::max(next, token.id + 1);
  std::vector<AddedToken> added;
  for (const char* text : texts) {
    const auto known = std::ranges::find(tokenizer.added_tokens, text, &AddedToken::content);
    if (known != tokenizer.added_tokens.end()) {
      added.push_back(*known);
    } else {
      added.push_back({.id = next++, .content = text, .special = true});
    }
  }
  return added;
}

Json told_config(const JsonObject& config, const Json& stored, const TensorFiles& tensors, const std::vector<AddedToken>& tokens) {
  Json text = stored;
  text.erase("architectures");
  text["model_type"] = "qwen2";
  Json told = {{"architectures", {"LlavaOnevisionForConditionalGeneration"}},
               {"model_type", "llava_onevision"},
               {"text_config", std::move(text)},
               {"vision_config", tower(tensors)},
               {"vision_feature_layer", -1},
               {"vision_feature_select_strategy", "full"},
               {"vision_aspect_ratio", config.string("image_aspect_ratio", kRepositoryNameBytes)},
               {"image_grid_pinpoints", config.value("image_grid_pinpoints")},
               {"projector_hidden_act", "gelu"},
               {"image_token_id", tokens[0].id},
               {"video_token_id", tokens[1].id}};
  for (const char* key : {"mm_spatial_pool_mode", "mm_spatial_pool_stride", "mm_newline_position", "mm_patch_merge_type",
                          "add_time_instruction", "add_faster_video"}) {
    if (config.has(key)) told[key] = config.value(key);
  }
  return told;
}

}  // namespace

bool saved_by_llava_repository(const JsonObject& config) {
  if (!config.has("architectures") || !config.value("architectures").is_array()) return false;
  const Json& names = config.value("architectures");
  return !names.empty() && names.front().is_string() && names.front().get_ref<const std::string&>() == kArchitecture;
}

LlavaRepositoryFolder read_llava_repository(const ModelDocument& config, const TokenizerFile& tokenizer, const TensorFiles& tensors) {
  const JsonObject root = config.root();
  refuse_what_is_missing(root);
  LlavaRepositoryFolder folder;
  folder.tensors = renamed(tensors);
  folder.added_tokens = media_tokens(tokenizer, {"<image>", "<video>"});
  folder.config = {told_config(root, config.content, folder.tensors, folder.added_tokens), config.subject};
  // No image_processor_type: the slow form, which is Pillow's.
  folder.image_processor = {{{"size", {{"height", kSidePx}, {"width", kSidePx}}},
                             {"image_grid_pinpoints", root.value("image_grid_pinpoints")},
                             {"image_mean", {0.5, 0.5, 0.5}},
                             {"image_std", {0.5, 0.5, 0.5}},
                             {"resample", 3}},
                            config.subject};
  folder.chat_template = family_template("llava_repository");
  return folder;
}

}  // namespace winnow
