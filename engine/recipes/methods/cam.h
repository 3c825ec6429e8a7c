// CaM. Zhang et al., "CaM: Cache Merging for Memory-efficient LLMs Inference", ICML 2024, section 3.3, algorithm 1; code zyxxmu/cam.
//
// A base evictor (StreamingLLM, or H2O) chooses; the value of an evicted slot is added, divided among them, to the next m_c kept slots,
// with probability accumulated attention of the slot / mean accumulated attention of those (at most 1). Keys are never changed. cam draws
// by a hash of (seed, layer, head, token); cam-expected always adds, scaled by the probability. Options: reference=max divides by the
// largest of all slots that stay, sinks included, instead of the receivers' mean (the authors' evaluation code, KVCache-Factory).
// Deviation: one event after the prefill with the next kept slots as targets, as NVIDIA/kvpress does.
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
