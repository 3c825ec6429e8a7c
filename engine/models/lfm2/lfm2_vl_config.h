// Everything that an LFM2-VL folder (Lfm2VlForConditionalGeneration) says about itself, checked.
//
// Read by lfm2_vl.h before a weight is loaded. Follows transformers 5.24's Lfm2VlConfig, Siglip2VisionConfig, Lfm2VlImageProcessor and
// Lfm2VlProcessor, whose defaults count where a file is silent. The processor's patches and cells are the model's, and tiles are whole
// cells: transformers fails where they are not. A text model other than LFM2 (its mixture of experts) is refused. Errors: Exception;
// kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject, kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>

#include "engine/layers/activation.h"
#include "engine/model_files/model_package.h"
#include "engine/models/decoder_config.h"
#include "engine/models/lfm2/picture_plan.h"
#include "engine/models/vit_config.h"

namespace winnow {

struct Lfm2VlConfig {
  DecoderConfig text;
  VitConfig vision;
  std::int64_t merge = 2;  // patches along a token's side
  std::int64_t projector_size = 0;
  bool projector_norm = true;
  bool projector_bias = true;
  Activation projector_activation = Activation::kGelu;
  std::int64_t image_token_id = 0;

  std::int64_t token_channels() const { return vision.hidden_size * merge * merge; }
};

struct Lfm2VlFolder {
  Lfm2VlConfig model;
  Lfm2PictureRules pictures;
};

Lfm2VlFolder read_lfm2_vl(const ModelPackage& package);

}  // namespace winnow
