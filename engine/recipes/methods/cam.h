// CaM. Zhang et al., "CaM: Cache Merging for Memory-efficient LLMs Inference", ICML 2024, section 3.3, algorithm 1; code zyxxmu/cam
// (generate_task/streaming_llm/kv_cache_cam.py).
//
// A base evictor (StreamingLLM, or H2O) chooses; the value of a leaving slot is added, divided among them, to the m_c slots that follow it,
// with probability accumulated attention of the slot / mean accumulated attention of those (at most 1). Keys are never changed. cam draws
// by a hash of (seed, layer, head, token); cam-expected always adds, scaled by the probability. Options: reference=max divides by the
// largest of all slots that stay, sinks included, instead of the receivers' mean (Zefan-Cai/KVCache-Factory).
// Deviation: the authors evict one slot per token; here all that the prompt is too long by leave at one event. They do so one after the
// other, each into the prompt's next m_c tokens, kept or leaving later (KVCache-Factory, pyramidkv_utils.py, CAMKVCluster): pushed into the
// kept slots behind the gap instead, hundreds of values would pile up in the same sixteen.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition cam(OptionReader& options);
MethodInfo cam_info();
Composition cam_expected(OptionReader& options);
MethodInfo cam_expected_info();

}  // namespace winnow
