#include "engine/recipes/methods/registry.h"

#include "engine/base/error.h"
#include "engine/recipes/methods/aircache.h"
#include "engine/recipes/methods/cam.h"
#include "engine/recipes/methods/context_controls.h"
#include "engine/recipes/methods/d2o.h"
#include "engine/recipes/methods/elastic_cache.h"
#include "engine/recipes/methods/ems.h"
#include "engine/recipes/methods/expected_attention.h"
#include "engine/recipes/methods/fastervlm.h"
#include "engine/recipes/methods/fastv.h"
#include "engine/recipes/methods/full.h"
#include "engine/recipes/methods/h2o.h"
#include "engine/recipes/methods/ivtp.h"
#include "engine/recipes/methods/keydiff.h"
#include "engine/recipes/methods/kvzip.h"
#include "engine/recipes/methods/local_window.h"
#include "engine/recipes/methods/look_m.h"
#include "engine/recipes/methods/meda.h"
#include "engine/recipes/methods/prefixkv.h"
#include "engine/recipes/methods/pyramidkv.h"
#include "engine/recipes/methods/random.h"
#include "engine/recipes/methods/rekv.h"
#include "engine/recipes/methods/roco.h"
#include "engine/recipes/methods/self_study.h"
#include "engine/recipes/methods/snapkv.h"
#include "engine/recipes/methods/stream_presets.h"
#include "engine/recipes/methods/streaming_llm.h"
#include "engine/recipes/methods/vl_cache.h"

namespace winnow {

namespace {

// In the order that people see: the papers, then the baselines they compare with, then the control; then what compresses before the
// question, for all later ones, and its controls.
constexpr MethodEntry kMethods[] = {
    {"full", full_info, full},
    {"meda", meda_info, meda},
    {"aircache", aircache_info, aircache},
    {"vl-cache", vl_cache_info, vl_cache},
    {"d2o", d2o_info, d2o},
    {"ems", ems_info, ems},
    {"ems-no-position", ems_no_position_info, ems_no_position},
    {"streaming-llm", streaming_llm_info, streaming_llm},
    {"local-window", local_window_info, local_window},
    {"h2o", h2o_info, h2o},
    {"snapkv", snapkv_info, snapkv},
    {"pyramidkv", pyramidkv_info, pyramidkv},
    {"look-m", look_m_info, look_m},
    {"look-m-average", look_m_average_info, look_m_average},
    {"look-m-weighted", look_m_weighted_info, look_m_weighted},
    {"elastic-cache", elastic_cache_info, elastic_cache},
    {"prefixkv", prefixkv_info, prefixkv},
    {"prefixkv-profile", prefixkv_profile_info, prefixkv_profile},
    {"cam", cam_info, cam},
    {"cam-expected", cam_expected_info, cam_expected},
    {"roco", roco_info, roco},
    {"fastv", fastv_info, fastv},
    {"fastervlm", fastervlm_info, fastervlm},
    {"ivtp", ivtp_info, ivtp},
    {"random", random_info, random_eviction},
    {"self-study", self_study_info, self_study},
    {"kvzip", kvzip_info, kvzip},
    {"kvzip+", kvzip_plus_info, kvzip_plus},
    {"kvzip-head", kvzip_head_info, kvzip_head},
    {"self-study-stream", self_study_stream_info, self_study_stream},
    {"kvzip-stream", kvzip_stream_info, kvzip_stream},
    {"infinipot-v", infinipot_v_info, infinipot_v},
    {"rekv", rekv_info, rekv},
    {"keydiff", keydiff_info, keydiff},
    {"expected-attention", expected_attention_info, expected_attention},
    {"random-context", random_context_info, random_context},
    {"every-k", every_k_info, every_k},
    {"last-frames", last_frames_info, last_frames},
};

}  // namespace

std::span<const MethodEntry> method_registry() { return kMethods; }

const MethodEntry& find_method(const std::string& name) {
  std::string known;
  for (const MethodEntry& entry : kMethods) {
    if (name == entry.name) return entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Exception(ErrorCode::kIllegalRecipe, "method", "there is no method \"" + name + "\"; known are " + known);
}

}  // namespace winnow
