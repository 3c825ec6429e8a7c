// Everything that an Idefics3- or SmolVLMForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (smolvlm.h) before a weight is loaded. Sizes that the published files leave out are those of transformers'
// classes (LlamaConfig, SmolVLMVisionConfig). Pixels are described where transformers 5 looks for them: the objects `image_processor` and
// `video_processor` nested in processor_config.json, then preprocessor_config.json and video_preprocessor_config.json; a video without
// either uses the image's, whose `size` goes before `video_sampling.video_size`. Images go through Pillow with the filter that the file
// names, as AutoImageProcessor chooses it for Idefics3ImageProcessor and SmolVLMImageProcessor; through torchvision, whose place of Lanczos
// takes the bicubic filter, where the file names a ...Fast class; frames through torchvision always. Which frames are read is the frame
// plan's matter: fps, num_frames and max_frames are not looked at. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with
// "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/models/decoder_config.h"
#include "engine/models/smolvlm/tile_grid.h"
#include "engine/models/vit_config.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

struct SmolVlmConfig {
  DecoderConfig text;
  VitConfig vision;  // image_size_px: that its position table was made for
  std::int64_t scale_factor = 2;
  std::int64_t image_token_id = 0;
};

enum class PixelLibrary : int { kPillow = 1, kTorchvision = 2 };

struct SmolVlmPixels {
  PixelLibrary library = PixelLibrary::kPillow;
  TileRules tiles;
  ResampleFilter filter = ResampleFilter::kLanczos;  // as the library has it
  PixelScaling scaling;
};

struct SmolVlmProcessorConfig {
  SmolVlmPixels image;
  SmolVlmPixels video;  // frames are never split
  std::int64_t image_tokens = 169;
};

// A whole folder. vision: of the pictures that the processor makes, tiles.side_px a side, with position_rows set; the processor's
// image_seq_len is the number of tokens that a picture has.
struct SmolVlmFolder {
  SmolVlmConfig model;
  SmolVlmProcessorConfig processor;
  std::int64_t side() const { return model.vision.patches_per_side / model.scale_factor; }  // tokens along a picture's side
};

// file: where `config` came from, for errors.
SmolVlmConfig parse_smolvlm_config(const Json& config, const std::string& file);

SmolVlmPixels parse_smolvlm_image_processor(const JsonObject& object);
SmolVlmPixels parse_smolvlm_video_processor(const JsonObject& object);

SmolVlmFolder read_smolvlm(const ModelPackage& package);

}  // namespace winnow
