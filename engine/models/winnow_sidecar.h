// winnow.json: what a model folder can tell this program beyond Hugging Face's files. Optional.
//
// `time_instruction` is the sentence that a model trained with frame times expects before the question about a video; {duration_s},
// {exact_duration_s}, {frames}, {interval_s} and {frame_times} stand for the seconds covered (whole ones, or with two decimals), the
// number of frames, the seconds between two frames and every frame's seconds ("0.00s,0.50s"). Other placeholders and texts over 4 KiB are
// refused; a file without such a sentence leaves that of the model's own files. `video_frames` is how many frames the longest videos had
// that it was trained on: a source without an end shares positions rather than go beyond. `prefixkv_profile` are the layers' shares of a
// cache as measured on calibration prompts, for the method prefixkv-profile: [{"retention": 0.1, "shares": [one per layer]}, ...],
// retentions ascending. `kvzip_head_scores` is how much each head looks at videos, for the method kvzip-head: [{"heads": [one per kv
// head]}, ...], one row per layer. An older file's `prefixkv_shares`, one row without its retention, is passed over: no other retention may
// be scaled from it, and the method then says what it misses. Errors: Exception kDamagedFile, kLimitExceeded. Threads: plain values.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/recipes/head_table.h"
#include "engine/recipes/measured_options.h"
#include "engine/recipes/share_profile.h"

namespace winnow {

struct WinnowSidecar {
  std::string time_instruction;   // empty: none
  std::int64_t video_frames = 0;  // 0: not known
  ShareProfile prefixkv_profile;  // empty: not measured
  HeadTable kvzip_head_scores;    // likewise

  MeasuredOptions measured_options() const;
};

// Errors: kDamagedFile where what was measured is of a model with other layers or heads. file: for the error.
void require_fit(const WinnowSidecar& sidecar, std::int64_t layers, std::int64_t kv_heads, const std::string& file);

WinnowSidecar parse_winnow_sidecar(const Json& document, const std::string& file);
WinnowSidecar read_winnow_sidecar(const ModelPackage& package);

}  // namespace winnow
