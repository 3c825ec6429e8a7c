// How frames become tokens, as the config.json of a LLaVA-Video says: mm_spatial_pool_mode, mm_spatial_pool_stride, mm_newline_position.
//
// Read with llava_onevision_config.h. A folder that says none of it is transformers' LLaVA-OneVision: bilinear to half the side, one
// newline at the end. Keys, defaults and sentence are those of the LLaVA-NeXT repository (llava_arch.py, train.py); the file decides,
// whatever an evaluation may have overridden. Errors: Exception kDamagedFile, kLimitExceeded, kUnsupportedModel naming the key. No torch.
// Threads: plain values.
#pragma once

#include <cstdint>

#include "engine/base/json_document.h"
#include "engine/models/llava_parts/frame_pooling.h"

namespace winnow {

// The place of the newline embedding among the tokens of a video.
enum class NewlinePlace : int {
  kRow = 1,      // "grid": after every row of every frame
  kFrame = 2,    // "frame": after every frame
  kVideo = 3,    // "one_token": after the last
  kNowhere = 4,  // "no_token"
};

struct VideoRules {
  FramePoolingRules pooling{FramePooling::kBilinear, 2};
  NewlinePlace newline = NewlinePlace::kVideo;
  bool tells_times = false;  // add_time_instruction: kLlavaVideoTimes stands before the question
};

// Its placeholders are those of winnow_sidecar.h; the missing space is theirs.
inline constexpr const char* kLlavaVideoTimes =
    "The video lasts for {exact_duration_s} seconds, and {frames} frames are uniformly sampled from it. These frames are located at "
    "{frame_times}.Please answer the following questions related to this video.";

// root: config.json.
VideoRules read_video_rules(const JsonObject& root, std::int64_t patches_per_side);

}  // namespace winnow
