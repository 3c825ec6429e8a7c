// Everything that an InternVL folder says about itself, checked, in either of its two layouts.
//
// Read by the family's model (internvl.h) before a weight is loaded. read_internvl() reads transformers' layout
// (InternVLForConditionalGeneration: InternVL2.5, 3 and 3.5 "-hf"; what config.json leaves out is as transformers' classes have it; pixels
// as picture_config.h finds their documents); read_internvl_chat() (original_config.h) that of the published folders with code of their
// own. Images are always cut into tiles (InternVLProcessor asks for it whatever the file says) and resized with torchvision's arithmetic,
// which is transformers' default for GotOcr2ImageProcessor, too; frames never are. Which frames are read is the frame plan's matter.
// Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/models/decoder_config.h"
#include "engine/models/llava_parts/picture_rules.h"
#include "engine/models/tile_choice.h"
#include "engine/models/vit_config.h"
#include "engine/weights/weight_names.h"

namespace winnow {

struct InternVlConfig {
  DecoderConfig text;
  VitConfig vision;                // image_size_px: that its position table was made for
  std::int64_t feature_state = 0;  // of the tower, counted from the embeddings
  bool last_norm = false;          // of the tower, over that state
  Activation projector_activation = Activation::kGelu;
  std::int64_t scale = 2;                      // patches along a token's side: 1 / downsample_ratio
  std::optional<std::int64_t> image_token_id;  // where the file says it
};

struct InternVlPixels {
  PictureRules image;  // of a tile, a square
  PictureRules video;  // of a frame, the same square
  TileBounds tiles;
};

// A whole folder. vision: of the pictures that the processor makes, with position_side set.
struct InternVlFolder {
  InternVlConfig model;
  InternVlPixels pixels;
  std::span<const WeightNameRule> names;  // to "text.", "tower.", "projector."
  std::string own_template;               // the layout's own way to write a thread; empty: the folder's
  std::int64_t side() const { return model.vision.patches_per_side / model.scale; }  // tokens along a tile's side
};

// file: where `config` came from, for errors.
InternVlConfig parse_internvl_config(const Json& config, const std::string& file);

// One object of a processor's file; images with the tiles, frames without.
InternVlPixels parse_internvl_image_processor(const JsonObject& object);
PictureRules parse_internvl_video_processor(const JsonObject& object);

InternVlFolder read_internvl(const ModelPackage& package);

// Fields that both layouts read alike: `norm_type` of the tower, `downsample_ratio`, and a state of the tower under `key`, -1 the last.
bool read_rms_norms(const JsonObject& vision, const char* fallback);
std::int64_t read_downsampling(const JsonObject& root);
std::int64_t read_feature_state(const JsonObject& root, const char* key, std::int64_t layers);
// All tiles of an image together; key: of their number.
void require_tiles_fit(const JsonObject& object, const char* key, const TileBounds& tiles);
// The tower for pictures of side_px a side. subject: what says so.
void place_pictures(InternVlConfig& config, std::int64_t side_px, const std::string& subject);

}  // namespace winnow
