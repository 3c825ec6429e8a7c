// CaM. Zhang et al., "CaM: Cache Merging for Memory-efficient LLMs Inference", ICML 2024, section 3.3, algorithm 1; code zyxxmu/cam
// (generate_task/streaming_llm/kv_cache_cam.py).
//
// A base evictor (StreamingLLM, or H2O) chooses; the value of a leaving slot is added, divided among them, to the m_c slots that follow it,
// with probability accumulated attention of the slot / mean accumulated attention of those (at most 1). Keys are never changed. cam draws
// by a hash of (seed, layer, head, token); cam-expected always adds, scaled by the probability. Options: reference=max divides by the
// largest of all slots that stay, sinks included, instead of the receivers' mean (Zefan-Cai/KVCache-Factory).
// The prompt's excess is dropped at the event, and merging begins with the first decoded token, as in the authors' code: there
// one slot is merged per decoded token, evict_for_space() merges nothing (no attention is given to it), and cam_hf
// (utils_hh/modify_llama_cam.py) only masks the prompt's middle. prompt=push merges it too, all of it, one token after the other, each into
// the prompt's next m_c tokens, kept or leaving later (KVCache-Factory, pyramidkv_utils.py, CAMKVCluster). That cannot come out even: a
// value is added and nothing taken away, so with probabilities near 1 a leaving value hands on what hundreds before it handed to it
// (x_i = 1 + p * mean of the m_c before), and the softmax over fewer slots raises the sum once more.
#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/methods/method.h"
#include "engine/recipes/reducers/value_push.h"
#include "engine/recipes/scorers/accumulated.h"
#include "engine/recipes/scorers/position_scores.h"

namespace winnow {

namespace {

Composition pushing(bool expected, OptionReader& options) {
  using Reference = ValuePushReducer::Reference;
  using Prompt = ValuePushReducer::Prompt;
  Composition composition{
      .allocator = std::make_unique<UniformAllocator>(), .phase = MethodPhase::kDecode, .decode = {.accumulates = true}};
  if (options.choice<bool>("base", {{"streaming-llm", true}, {"h2o", false}})) {
    composition.scorer = std::make_unique<RecencyScorer>();
    composition.protection.sinks = options.whole("sinks", 4, 0, 1024);
  } else {
    composition.scorer = std::make_unique<AccumulatedScorer>();
    composition.protection.recent_share = options.real("recent_share", 0.5, 0.0, 1.0);
    composition.decode.victim = DecodeRule::Victim::kLeastAttention;
  }
  ValuePushReducer::Options push;
  push.prompt = options.choice<Prompt>("prompt", {{"drop", Prompt::kDrop}, {"push", Prompt::kPush}});
  push.window = options.whole("window", 16, 1, 4096);
  push.expected = expected;
  push.reference = options.choice<Reference>("reference", {{"mean", Reference::kMean}, {"max", Reference::kMaximum}});
  push.seed = options.seed();
  composition.reducer = std::make_shared<ValuePushReducer>(push);
  return composition;
}

Composition cam(OptionReader& options) { return pushing(false, options); }
Composition cam_expected(OptionReader& options) { return pushing(true, options); }

}  // namespace

const Method kCam{.name = "cam", .title = "CaM", .source = "Zhang et al., ICML 2024", .compose = cam};
const Method kCamExpected{.name = "cam-expected", .title = "CaM (expected)", .source = "Zhang et al., ICML 2024", .compose = cam_expected};

}  // namespace winnow
