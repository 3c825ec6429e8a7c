#include "engine/models/smolvlm/smolvlm_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/models/config_fields.h"
#include "engine/models/picture_config.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostScale = 16;
constexpr std::int64_t kMostEdgePx = 16'384;
constexpr std::int64_t kMostTilePx = 4096;
constexpr std::int64_t kDefaultTilePx = 364;
constexpr std::int64_t kDefaultImageToken = 128'257;
constexpr PixelScaling kScaling = {.mean = {0.5, 0.5, 0.5}, .standard_deviation = {0.5, 0.5, 0.5}};

// LlamaConfig's, where the text model is one; of a folder without text_config, Idefics3Config's.
Json text_defaults(const JsonObject& root) {
  Json defaults = {{"vocab_size", 32'000},    {"hidden_size", 4096},       {"intermediate_size", 11'008},
                   {"num_hidden_layers", 32}, {"num_attention_heads", 32}, {"max_position_embeddings", 2048},
                   {"rms_norm_eps", 1e-6}};
  const std::optional<JsonObject> text = root.optional_object("text_config");
  if (!text) defaults["rms_norm_eps"] = 1e-5;
  return !text || text->string("model_type", kMaxNameBytes, "llama") == "llama" ? defaults : Json::object();
}

Json vision_defaults() {
  return {{"hidden_size", 1152},       {"intermediate_size", 3072}, {"num_hidden_layers", 12},
          {"num_attention_heads", 16}, {"image_size", 224},         {"patch_size", 32}};
}

std::int64_t read_longest_edge(const JsonObject& object, const char* key, std::int64_t most, std::int64_t fallback) {
  if (!object.has(key)) return fallback;
  const JsonObject size = object.object(key);
  if (!size.has("longest_edge")) unsupported(object, key, "only a longest_edge is implemented");
  return size.integer("longest_edge", 1, most);
}

// The filter that Pillow and torchvision use for Pillow's number.
ResampleFilter read_filter(const JsonObject& object, PixelLibrary library) {
  const std::int64_t number = object.integer("resample", 0, 5, static_cast<int>(ResampleFilter::kLanczos));
  constexpr std::array kKnown = {ResampleFilter::kLanczos, ResampleFilter::kBilinear, ResampleFilter::kBicubic};
  const auto* found = std::ranges::find(kKnown, number, [](ResampleFilter filter) { return static_cast<std::int64_t>(filter); });
  if (found == kKnown.end()) unsupported(object, "resample", "only Lanczos (1), bilinear (2) and bicubic (3) resizing are implemented");
  return *found == ResampleFilter::kLanczos && library == PixelLibrary::kTorchvision ? ResampleFilter::kBicubic : *found;
}

SmolVlmPixels read_common(const JsonObject& object, PixelLibrary library) {
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized do not fit the vision tower");
  SmolVlmPixels pixels;
  pixels.library = library;
  pixels.tiles.longest_edge_px = read_longest_edge(object, "size", kMostEdgePx, pixels.tiles.longest_edge_px);
  pixels.tiles.side_px = read_longest_edge(object, "max_image_size", kMostTilePx, kDefaultTilePx);
  pixels.filter = read_filter(object, library);
  pixels.scaling = read_pixel_scaling(object, kScaling);
  return pixels;
}

SmolVlmProcessorConfig read_processor(const ModelPackage& package) {
  const ModelDocument* processor = package.document(ModelPart::kProcessor);
  const ModelDocument* image = package.document(ModelPart::kImageProcessor);
  const ModelDocument* video = package.document(ModelPart::kVideoProcessor);
  SmolVlmProcessorConfig config;
  std::optional<JsonObject> of_images;
  std::optional<JsonObject> of_videos;
  if (processor != nullptr) {
    const JsonObject root = processor->root();
    of_images = root.optional_object("image_processor");
    of_videos = root.optional_object("video_processor");
    config.image_tokens = root.integer("image_seq_len", 1, 1'000'000, config.image_tokens);
  }
  const std::optional<JsonObject> nested_images = of_images;
  if (!of_images && image != nullptr) of_images = image->root();
  const JsonObject& images = required_image(of_images, package);
  if (!of_videos && video != nullptr) of_videos = video->root();
  if (!of_videos) of_videos = image != nullptr ? image->root() : *nested_images;
  config.image = parse_smolvlm_image_processor(images);
  config.video = parse_smolvlm_video_processor(*of_videos);
  return config;
}

}  // namespace

SmolVlmConfig parse_smolvlm_config(const Json& document, const std::string& file) {
  const JsonObject root(document, file);
  const std::string type = root.string("model_type", kMaxNameBytes);
  if (type != "idefics3" && type != "smolvlm") unsupported(root, "model_type", quoted_name(type) + " is neither idefics3 nor smolvlm");
  SmolVlmConfig config;
  const Json text = completed_object(root, "text_config", text_defaults(root));
  config.text = parse_decoder_config(JsonObject(text, file, "text_config"), "llama");
  config.text.tie_word_embeddings = config.text.tie_word_embeddings || root.boolean("tie_word_embeddings", false);
  Json vision = completed_object(root, "vision_config", vision_defaults());
  vision.erase("model_type");  // "idefics3", "idefics3_vision", "smolvlm_vision": all of them are this tower
  config.vision = parse_vit_config(JsonObject(vision, file, "vision_config"), "siglip_vision_model");
  config.scale_factor = root.integer("scale_factor", 1, kMostScale, config.scale_factor);
  config.image_token_id = root.integer("image_token_id", 0, kMaxVocabulary, kDefaultImageToken);
  if (config.image_token_id >= config.text.vocabulary) {
    root.refuse(
        ErrorCode::kDamagedFile, "image_token_id",
        "token " + std::to_string(config.image_token_id) + " is outside the vocabulary of " + std::to_string(config.text.vocabulary));
  }
  return config;
}

SmolVlmPixels parse_smolvlm_image_processor(const JsonObject& object) {
  constexpr std::string_view kFast = "Fast";
  const std::string type = object.string("image_processor_type", kMaxNameBytes, "SmolVLMImageProcessor");
  std::string_view base = type;
  if (base.ends_with(kFast)) base.remove_suffix(kFast.size());
  if (base != "SmolVLMImageProcessor" && base != "Idefics3ImageProcessor")
    unsupported(object, "image_processor_type", quoted_name(type) + " is not an image processor of this family");
  SmolVlmPixels pixels = read_common(object, base == type ? PixelLibrary::kPillow : PixelLibrary::kTorchvision);
  pixels.tiles.split = object.boolean("do_image_splitting", true);
  return pixels;
}

SmolVlmPixels parse_smolvlm_video_processor(const JsonObject& object) {
  SmolVlmPixels pixels = read_common(object, PixelLibrary::kTorchvision);
  pixels.tiles.split = false;
  const std::optional<JsonObject> sampling = object.optional_object("video_sampling");
  if (sampling && !object.has("size"))
    pixels.tiles.longest_edge_px = read_longest_edge(*sampling, "video_size", kMostEdgePx, pixels.tiles.longest_edge_px);
  pixels.tiles.longest_edge_px = std::min(pixels.tiles.longest_edge_px, kMostPictureSidePx);
  return pixels;
}

SmolVlmFolder read_smolvlm(const ModelPackage& package) {
  const ModelDocument& config = package.required(ModelPart::kConfig);
  SmolVlmFolder folder;
  folder.model = parse_smolvlm_config(config.content, config.subject);
  folder.processor = read_processor(package);
  VitConfig& vision = folder.model.vision;
  const std::int64_t side_px = folder.processor.image.tiles.side_px;
  const auto refuse = [](const std::string& subject, const char* key, const std::string& reason) {
    throw Exception(ErrorCode::kDamagedFile, subject + ": " + key, reason);
  };
  if (folder.processor.video.tiles.side_px != side_px)
    refuse(package.subject(ModelPart::kVideoProcessor), "max_image_size", "it differs from the images'");
  vision.position_rows = vision.patches_per_side * vision.patches_per_side;
  vision.image_size_px = side_px;
  vision.patches_per_side = side_px / vision.patch_size_px;
  if (vision.patches_per_side < 1 || vision.patches_per_side > 256 || vision.patches_per_side % folder.model.scale_factor != 0) {
    refuse(package.subject(ModelPart::kImageProcessor), "max_image_size",
           std::to_string(side_px) + " px are no patches of " + std::to_string(vision.patch_size_px) + " px that scale_factor " +
               std::to_string(folder.model.scale_factor) + " divides");
  }
  const std::int64_t tokens = folder.side() * folder.side();
  if (folder.processor.image_tokens != tokens) {
    refuse(package.subject(ModelPart::kProcessor), "image_seq_len",
           std::to_string(folder.processor.image_tokens) + " is not the number of a picture's tokens, " + std::to_string(tokens));
  }
  return folder;
}

}  // namespace winnow
