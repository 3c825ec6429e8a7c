// The golden folders of vision-language models (tests/golden): whoever tests all of them begins here. A folder is one line.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace winnow::test_support {

inline constexpr std::array kVisionFolders = {"gqa_tied",
                                              "mha_untied",
                                              "no_bias_scaled",
                                              "head_dim",
                                              "select_default",
                                              "plain_projector",
                                              "video_grid",
                                              "video_frame",
                                              "video_no_token",
                                              "llava/llava_llama",
                                              "llava/llava_full",
                                              "llava/llava_siglip",
                                              "llava/next_mistral",
                                              "llava/next_window",
                                              "llava/next_video",
                                              "llava/next_video_max",
                                              "granite/vision",
                                              "qwen2_vl/published",
                                              "qwen2_vl/saved",
                                              "qwen2_vl/joined_three",
                                              "qwen2_5_vl/published",
                                              "qwen2_5_vl/saved",
                                              "qwen3_vl/published",
                                              "qwen3_vl/saved",
                                              "qwen3_vl/joined_three",
                                              "qwen3_vl/experts",
                                              "qwen3_5/published",
                                              "qwen3_5/saved",
                                              "qwen3_5_moe/published",
                                              "smolvlm/smolvlm2_split",
                                              "smolvlm/idefics3_plain",
                                              "smolvlm/other_tile",
                                              "smolvlm/saved_fast",
                                              "internvl/qwen2_saved",
                                              "internvl/llama_published",
                                              "internvl/other_size",
                                              "internvl/feature_layer",
                                              "internvl/chat_internlm2",
                                              "internvl/chat_qwen2",
                                              "gemma3/published",
                                              "gemma3/narrow_window",
                                              "gemma3/pan_and_scan",
                                              "gemma3/plain_pillow",
                                              "gemma4/published",
                                              "gemma4/saved",
                                              "gemma4_large/plain",
                                              "gemma4_large/dense",
                                              "gemma4_experts/saved",
                                              "gemma4_unified/published",
                                              "gemma4_unified/saved",
                                              "glm4v/thinking",
                                              "glm4v/flash",
                                              "glm4v/bounds",
                                              "glm4v_moe/published",
                                              "glm4v_moe/groups",
                                              "minicpmv/published",
                                              "minicpmv/fine",
                                              "minicpmv4_7/published",
                                              "minicpmv4_7/fine",
                                              "lfm2_vl/published",
                                              "lfm2_vl/saved",
                                              "lfm2_vl/uncut",
                                              "lfm2_vl/defaults",
                                              "mistral3/published",
                                              "mistral3/ministral"};

// Of the llava_onevision folders: refuses a single image.
inline constexpr const char* kRefusesAnImage = "select_default";

}  // namespace winnow::test_support
