// CaM. Zhang et al., "CaM: Cache Merging for Memory-efficient LLMs Inference", ICML 2024, section 3.3, algorithm 1; code zyxxmu/cam
// (generate_task/streaming_llm/kv_cache_cam.py).
//
// A base evictor (StreamingLLM, or H2O) chooses; the value of a leaving slot is added, divided among them, to the m_c slots that follow it,
// with probability accumulated attention of the slot / mean accumulated attention of those (at most 1). Keys are never changed. cam draws
// by a hash of (seed, layer, head, token); cam-expected always adds, scaled by the probability. Options: reference=max divides by the
// largest of all slots that stay, sinks included, instead of the receivers' mean (Zefan-Cai/KVCache-Factory).
// What the prompt is too long by is dropped at the event, and merging begins with the first decoded token, as in the authors' code: there
// one slot is merged per decoded token, evict_for_space() merges nothing (no attention is given to it), and cam_hf
// (utils_hh/modify_llama_cam.py) only masks the prompt's middle. prompt=push merges it too, all of it, one token after the other, each into
// the prompt's next m_c tokens, kept or leaving later (KVCache-Factory, pyramidkv_utils.py, CAMKVCluster). That cannot come out even: a
// value is added and nothing taken away, so with probabilities near 1 a leaving value hands on what hundreds before it handed to it
// (x_i = 1 + p * mean of the m_c before), and the softmax over fewer slots raises the sum once more.
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
