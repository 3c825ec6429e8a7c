// Everything that a folder of MiniCPMV4_6ForConditionalGeneration or MiniCPMV4_7's says about itself, checked. Read by minicpmv.h before a
// weight is loaded.
//
// The text model is Qwen3.5's, in 4.6 with positions along one axis. How many patches become a token (downsample_mode) is said by
// config.json and by both processors, which have to agree. Frames are not cut, whatever the processor's file says, as the model's makers
// ask for; its max_slice_nums is not read. A processor that joins frames into one picture (stack_frames) is refused. Which frames are read
// is the frame plan's matter. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject,
// kFileNotFound. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"
#include "engine/model_files/model_package.h"
#include "engine/models/decoder_config.h"
#include "engine/models/minicpmv/slice_choice.h"
#include "engine/models/qwen_vl_parts/patch_processor_config.h"

namespace winnow {

struct MiniCpmVVision {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t patch_px = 14;
  std::int64_t table_side = 0;    // rows and columns of the table of positions
  std::int64_t merger_layer = 6;  // behind this layer four patches become one, where a token stands for 16
  bool joins_squares = true;      // the weights for that are there; GGUF files whose tokens stand for 4 patches lack them
  double norm_eps = 1e-6;
  Activation activation = Activation::kGeluTanh;
};

// Tokens at the corners of pictures and slices, by which 4.7 tells positions.
struct CanvasMarks {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t slice_begin = 0;
  std::int64_t slice_end = 0;
  std::int64_t line = 0;
};

struct MiniCpmVConfig {
  DecoderConfig text;
  MiniCpmVVision vision;
  std::int64_t joined = 4;  // SliceRules::joined
  std::int64_t image_token_id = 0;
  std::int64_t video_token_id = 0;
  std::optional<CanvasMarks> marks{};  // 4.7
};

// How pictures are prepared. Bounds on the number of pixels are not used, cells are made where patches go through the vision encoder.
struct MiniCpmVPixels {
  SliceRules slices;
  PatchProcessorConfig patches;
};

struct MiniCpmVFolder {
  MiniCpmVConfig model;
  MiniCpmVPixels image;
  MiniCpmVPixels frame;
  bool numbers_images = true;  // use_image_id
};

// file: where `config` came from, for errors.
MiniCpmVConfig parse_minicpmv_config(const Json& config, const std::string& file);

MiniCpmVFolder read_minicpmv(const ModelPackage& package);

}  // namespace winnow
