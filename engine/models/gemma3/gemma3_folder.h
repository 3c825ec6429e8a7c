// Everything that a Gemma3ForConditionalGeneration folder says about itself, checked.
//
// Read by the family's model (gemma3.h) before a weight is loaded. What config.json leaves out is as transformers' Gemma3Config,
// Gemma3TextConfig and SiglipVisionConfig have it; the text model is read by causal_lm/gemma3_config.h, its bound of logits left
// aside, as transformers' class does. Pixels are described where picture_config.h finds their document. Images are resized with
// torchvision's arithmetic, which is transformers' default for both of the class's processors; with Pillow's where the file names none.
// Pan and scan: a file with do_pan_and_scan asks for it, and its other numbers count; transformers' Gemma3Processor leaves both aside and
// takes what its caller says (by default no), so that such a folder is read as its makers wrote it. Errors: Exception; kDamagedFile,
// kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/models/decoder_config.h"
#include "engine/models/gemma3/crop_choice.h"
#include "engine/models/llava_parts/picture_rules.h"
#include "engine/models/vit_config.h"

namespace winnow {

struct Gemma3Config {
  DecoderConfig text;
  VitConfig vision;
  std::int64_t side = 16;  // tokens along a picture's side
  std::int64_t image_token_id = 0;

  std::int64_t pooled() const { return vision.patches_per_side / side; }  // patches along a token's side
};

struct Gemma3Pixels {
  PictureRules image;
  CropRules crops;
};

struct Gemma3Folder {
  Gemma3Config model;
  Gemma3Pixels pixels;
};

// file: where `config` came from, for errors.
Gemma3Config parse_gemma3_vision_config(const Json& config, const std::string& file);

// One object of a processor's file.
Gemma3Pixels parse_gemma3_image_processor(const JsonObject& object);

Gemma3Folder read_gemma3(const ModelPackage& package);

}  // namespace winnow
