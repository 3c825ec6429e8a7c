#include "engine/recipes/methods/registry.h"

#include "engine/base/error.h"

namespace winnow {

namespace {

// In the order that people see: the papers, then the baselines they compare with, then the control; then what compresses before the
// question, for all later ones, and its controls.
const Method* const kMethods[] = {
    &kFull,
    &kMeda,
    &kAircache,
    &kVlCache,
    &kD2o,
    &kEms,
    &kEmsNoPosition,
    &kStreamingLlm,
    &kLocalWindow,
    &kH2o,
    &kSnapkv,
    &kPyramidkv,
    &kLookM,
    &kLookMAverage,
    &kLookMWeighted,
    &kElasticCache,
    &kPrefixkv,
    &kPrefixkvProfile,
    &kCam,
    &kCamExpected,
    &kRoco,
    &kFastv,
    &kFastervlm,
    &kIvtp,
    &kRandom,
    &kSelfStudy,
    &kKvzip,
    &kKvzipPlus,
    &kKvzipHead,
    &kSelfStudyStream,
    &kKvzipStream,
    &kInfinipotV,
    &kRekv,
    &kKeydiff,
    &kExpectedAttention,
    &kRandomContext,
    &kEveryK,
    &kLastFrames,
};

}  // namespace

std::span<const Method* const> method_registry() { return kMethods; }

const Method& find_method(const std::string& name) {
  std::string known;
  for (const Method* method : kMethods) {
    if (name == method->name) return *method;
    known += (known.empty() ? "" : ", ") + std::string(method->name);
  }
  throw Exception(ErrorCode::kIllegalRecipe, "method", "there is no method \"" + name + "\"; known are " + known);
}

}  // namespace winnow
