#include "engine/recipes/methods/cam.h"

#include "engine/recipes/allocators/uniform.h"
#include "engine/recipes/reducers/value_push.h"
#include "engine/recipes/scorers/accumulated.h"
#include "engine/recipes/scorers/recency.h"

namespace winnow {

namespace {

Composition pushing(const char* method, bool expected, OptionReader& options) {
  using Reference = ValuePushReducer::Reference;
  using Prompt = ValuePushReducer::Prompt;
  Composition composition;
  composition.method = method;
  composition.allocator = std::make_unique<UniformAllocator>();
  composition.phase = MethodPhase::kDecode;
  composition.decode.accumulates = true;
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

MethodInfo described_cam(const char* name, const char* title) {
  MethodInfo info;
  info.name = name;
  info.title = title;
  info.source = "Zhang et al., ICML 2024";
  info.merges = true;
  info.needs = {"column sums of all rows", "decode rows"};
  return info;
}

}  // namespace

Composition cam(OptionReader& options) { return pushing("cam", false, options); }
Composition cam_expected(OptionReader& options) { return pushing("cam-expected", true, options); }
MethodInfo cam_info() { return described_cam("cam", "CaM"); }
MethodInfo cam_expected_info() { return described_cam("cam-expected", "CaM (expected)"); }

}  // namespace winnow
