// How a model folder wants its pixels: preprocessor_config.json, video_preprocessor_config.json, processor_config.json.
//
// Read with llava_onevision_config.h, used by image_processor.h; which document speaks of what says picture_config.h. As in LLaVA's folders
// (llava_processor_config.h) an image processor that the file names is loaded in its fast form, torchvision's, whichever it names; where
// the file names none it is the slow form over Pillow. Videos are torchvision's. Settings that the engine does not run (another filter, no
// resizing, centre crops) are refused by name, not ignored. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel naming file
// and key. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/models/llava_parts/picture_rules.h"

namespace winnow {

struct ImageProcessorConfig : PictureRules {
  std::vector<PixelSize> grid_pinpoints;  // resolutions that the anyres tiling may choose, in the file's order
};

struct ProcessorConfig {
  ImageProcessorConfig image;
  PictureRules video;
  // The value of processor_config.json; absent there: nullopt. The family's configuration checks that they agree with the model's.
  std::optional<std::int64_t> image_tokens;
  std::optional<std::string> feature_select_strategy;
  std::optional<std::string> aspect_ratio;
};

// The 36 pinpoints of transformers' LLaVA-OneVision classes: multiples of 384 px up to 6 x 6.
std::vector<PixelSize> default_grid_pinpoints();

ImageProcessorConfig parse_image_processor(const JsonObject& object);
PictureRules parse_video_processor(const JsonObject& object);

// Missing documents are an error only if none of them describes images.
ProcessorConfig read_processor_config(const ModelPackage& package);

}  // namespace winnow
