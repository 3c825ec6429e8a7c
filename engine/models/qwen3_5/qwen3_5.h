// Qwen3.5, dense or a mixture of experts: gated delta layers between layers that attend, M-RoPE on part of a head, and Qwen3-VL's pictures
// and videos without deepstack.
//
// Made by registry.h. Media, prompt and positions are Qwen3-VL's (qwen3_vl.h, whose class serves both); what differs is the decoder
// (DecoderConfig::recurrent) and what the files say. A second head for guessing several tokens (mtp) is left unread. Follows transformers
// 5.24. Errors: kDamagedFile naming the tensor, Interrupted. Engine thread only.
#pragma once

#include <memory>

#include "engine/models/model_load.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

std::unique_ptr<VisionLanguageModel> load_qwen3_5(ModelLoad& load);

}  // namespace winnow
