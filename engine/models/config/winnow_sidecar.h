// winnow.json: an optional file of a model folder with settings for this program.
//
// `time_instruction`: the sentence that a model trained with frame times expects before a question about a video. Placeholders:
//   {duration_s} and {exact_duration_s} (seconds covered, whole or with two decimals), {frames}, {interval_s} (seconds between frames),
//   {frame_times} ("0.00s,0.50s"). Other placeholders and texts over 4 KiB are refused. Default: that of the model's own files.
// `video_frames`: frames of the longest training videos. Frames of an endless source share positions rather than exceed it.
// `prefixkv_profile`: the layers' shares of a cache, measured on calibration prompts, for the method prefixkv-profile:
//   [{"retention": 0.1, "shares": [one per layer]}, ...], retentions ascending. The older `prefixkv_shares`, a row without its retention,
//   is ignored, because it cannot be scaled to other retentions; the method then reports that the profile is missing.
// `kvzip_head_scores`: how much each head attends to videos, for the method kvzip-head: [{"heads": [one per kv head]}, ...], one row per
//   layer.
// Errors: Exception kDamagedFile, kLimitExceeded. Threads: plain values.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/recipes/measured_options.h"

namespace winnow {

struct WinnowSidecar {
  std::string time_instruction;     // empty: none
  std::int64_t video_frames = 0;    // 0: unknown
  ShareProfile prefixkv_profile{};  // empty: not measured
  HeadTable kvzip_head_scores{};    // likewise

  MeasuredOptions measured_options() const;
};

// Errors: kDamagedFile if the measurements are of a model with other layers or heads. file: for the error.
void require_fit(const WinnowSidecar& sidecar, std::int64_t layers, std::int64_t kv_heads, const std::string& file);

WinnowSidecar parse_winnow_sidecar(const Json& document, const std::string& file);
WinnowSidecar read_winnow_sidecar(const ModelPackage& package);

}  // namespace winnow
