// Everything that the folder of a LLaVA says about itself, checked: LlavaForConditionalGeneration (LLaVA-1.5),
// LlavaNextForConditionalGeneration (LLaVA-NeXT, 1.6) and LlavaNextVideoForConditionalGeneration.
//
// Read by the family's model (llava.cpp) before a weight is loaded. The three differ in what they do with pictures and in what their files
// need not say; that is one row each of a table. Defaults are those of transformers' configuration classes, because the published folders
// leave much out. Keys of both transformers 4 (*_token_index) and 5 (*_token_id) are read. Errors: Exception; kDamagedFile,
// kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/models/vision/visual_grid.h"

namespace winnow {

// How a LLaVA folder wants its pixels: preprocessor_config.json, video_preprocessor_config.json, processor_config.json. Sources in the
// order in which transformers 5.2 takes them: the objects `image_processor` and `video_processor` nested in processor_config.json, then the
// files of their own; a video without either uses the image's file. By default transformers loads every image processor that the file names
// (image_processor_type) as its fast form, which is torchvision's resize and scaling; only where the file names none the slow form over
// Pillow. Videos are torchvision's. What a file leaves out is as the named class has it; a folder without any of these files is refused, as
// transformers refuses it. Settings that the engine does not run are refused by name.

struct LlavaProcessorConfig {
  PictureRules image;
  std::vector<PixelSize> grid_pinpoints;  // of processors that tile, in the file's order; empty: it does not
  PictureRules video;                     // of classes that read videos
  // The value of processor_config.json; absent there: nullopt. Folders of older versions of transformers say less.
  std::optional<std::int64_t> patch_size_px;
  std::optional<std::int64_t> additional_tokens;  // beside an image's patches: the class token
  std::optional<std::string> feature_select_strategy;
};

// The treatment of pictures by the model's class.
struct LlavaSight {
  bool tiles = false;
  bool videos = false;
};

// The resolutions that LLaVA-NeXT's classes tile into unless a file says otherwise.
std::vector<PixelSize> llava_next_pinpoints();

LlavaProcessorConfig read_llava_processor(const ModelPackage& package, LlavaSight sight);

struct LlavaConfig : LlavaVisionConfig {
  DecoderConfig text;
  LlavaSight sight;
  GridRules grid;  // pinpoints where the class tiles; tile side, patches per side
  FramePoolingRules pooling;
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = -1;  // -1: the class reads no videos

  std::int64_t frame_side() const { return pooling.side(vision.patches_per_side); }  // in tokens
};

// A whole folder, with the places checked where they must agree (pixel sizes, pinpoints, select strategy, tokens per image).
struct LlavaFolder {
  LlavaConfig model;
  LlavaProcessorConfig processor;
};

// model_type: "llava", "llava_next" or "llava_next_video". file: where `config` came from, for errors.
LlavaConfig parse_llava_config(const Json& config, const std::string& file, std::string_view model_type);

LlavaFolder read_llava(const ModelPackage& package, std::string_view model_type);

}  // namespace winnow
