// GLM-4.1V-Thinking, GLM-4.6V-Flash, and GLM-4.5V and GLM-4.6V with experts: a tower for pictures of native resolution and a GLM-4 or
// GLM-4.5 decoder with M-RoPE (time, height, width) on half of a head.
//
// Made by registry.h. Media, prompt and positions are of Qwen3-VL's kind (qwen3_vl.h, whose class serves both): an image is its cells, a
// video is pictures of joined frames, which have the image's token and marks and their time behind them (FrameTimes). The tower is
// QwenVlTower with DownsampleConfig, the decoder that of glm4_text_config.h. Follows transformers 5.24. Errors:
// kDamagedFile naming the tensor, Interrupted. Engine thread only.
#pragma once

#include <memory>

#include "engine/models/model_load.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

std::unique_ptr<VisionLanguageModel> load_glm4v(ModelLoad& load);

}  // namespace winnow
