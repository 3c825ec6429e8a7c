// A compression preset: what lists say of it, and its parts for the options that were given. Each file here defines the rows of its paper.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_options.h"

namespace winnow {

struct Method {
  const char* name;
  const char* title;
  const char* source;  // paper or code
  Composition (*compose)(OptionReader& options);
  bool query_aware = false;  // the question scores what stays
};

// Each stands in the file of its paper.
extern const Method kFull, kMeda, kAircache, kVlCache, kD2o, kEms, kEmsNoPosition, kStreamingLlm, kLocalWindow, kH2o, kSnapkv, kPyramidkv,
    kLookM, kLookMAverage, kLookMWeighted, kElasticCache, kPrefixkv, kPrefixkvProfile, kCam, kCamExpected, kRoco, kFastv, kFastervlm, kIvtp,
    kRandom, kSelfStudy, kKvzip, kKvzipPlus, kKvzipHead, kSelfStudyStream, kKvzipStream, kInfinipotV, kRekv, kKeydiff, kExpectedAttention,
    kRandomContext, kEveryK, kLastFrames;

}  // namespace winnow
