// How a LLaVA folder wants its pixels: preprocessor_config.json, video_preprocessor_config.json, processor_config.json.
//
// Read with llava_config.h. Sources in the order in which transformers 5.2 takes them: the objects `image_processor` and `video_processor`
// nested in processor_config.json, then the files of their own; a video without either uses the image's file. By default transformers loads
// every image processor that the file names (image_processor_type) as its fast form, which is torchvision's resize and scaling; only where
// the file names none the slow form over Pillow. Videos are torchvision's. What a file leaves out is as the named class has it; a folder
// without any of these files is refused, as transformers refuses it. Settings that the engine does not run are refused by name. Errors:
// Exception; kFileNotFound, kDamagedFile, kLimitExceeded, kUnsupportedModel naming file and key. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/models/llava_parts/picture_rules.h"

namespace winnow {

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

}  // namespace winnow
