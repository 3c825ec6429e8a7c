// A folder as the LLaVA-NeXT repository saves it (LlavaQwenForCausalLM: LLaVA-OneVision, LLaVA-Video), told as transformers' layout of
// LLaVA-OneVision has it.
//
// Used by hugging_face_folder.h. Such a folder has one config.json, with the text model's keys at its root and the tower by name alone, no
// documents about pictures, no token that stands for one, and tensors under names of its own. What the repository's code knows is written
// down here: SigLIP without its last layer (siglip_encoder.py), Pillow's bicubic filter with means and deviations of 0.5, the conversation
// qwen_1_5 (conversation.py) with media in front of what is asked. Frames, which the repository resizes by Pillow, too, are resized as
// transformers' class does it. Refused by name: other towers than SigLIP's so400m at 384 px, other projectors than the plain one of two
// layers, resamplers, marks around pictures. Errors: Exception; kUnsupportedModel and kDamagedFile naming file and key, those of
// tensor_file.h. No torch. Threads: plain functions.
#pragma once

#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/text/tokenizer_file.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

bool saved_by_llava_repository(const JsonObject& config);

struct LlavaRepositoryFolder {
  ModelDocument config;
  ModelDocument image_processor;
  std::vector<AddedToken> added_tokens;  // stand for an image and a video; no text becomes them
  std::string_view chat_template;
  TensorFiles tensors;
};

// tokenizer: as it lies in the folder.
LlavaRepositoryFolder read_llava_repository(const ModelDocument& config, const TokenizerFile& tokenizer, const TensorFiles& tensors);

}  // namespace winnow
