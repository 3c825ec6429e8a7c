// winnow.json: what a model folder can tell this program beyond Hugging Face's files. Optional.
//
// `time_instruction` is the sentence that a model trained with frame times expects before the question about a video; {duration_s},
// {frames} and {interval_s} stand for the seconds covered, the number of frames and the seconds between two frames. Other placeholders
// and texts over 4 KiB are refused. `prefixkv_shares` are the layers' shares of a cache as measured on calibration prompts, for the method
// prefixkv-profile. Errors: Exception kDamagedFile, kLimitExceeded. Threads: plain values.
#pragma once

#include <string>
#include <vector>

#include "engine/base/json_document.h"

namespace winnow {

struct WinnowSidecar {
  std::string time_instruction;         // empty: none
  std::vector<double> prefixkv_shares;  // one per layer, in (0, 1]; empty: not measured
};

WinnowSidecar parse_winnow_sidecar(const Json& document, const std::string& file);
WinnowSidecar load_winnow_sidecar(const std::string& folder);

}  // namespace winnow
