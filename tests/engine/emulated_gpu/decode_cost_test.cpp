// What a decoded token costs on a GPU beside its arithmetic: the host waits once, for the number of the token, and gets nothing else; what
// it starts is counted.
#include <algorithm>
#include <string>

#include "engine/kv_cache/kv_cache.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_phase.h"
#include "engine/recipes/recipe.h"
#include "tests/engine/emulated_gpu/emulated_device.h"
#include "tests/support/measured_options.h"

namespace winnow::testing {
namespace {

class DecodeCost : public OnEmulatedGpu {
 protected:
  struct Cost {
    std::int64_t tokens = 0;
    EmulatedGpuCounts counts;
    std::int64_t most_slots = 0;  // of a kv head, at the end
  };

  static Turn ask(EngineOn& engine, const std::string& method, int tokens) {
    Turn turn;
    turn.conversation = 7;
    turn.messages = {engine.question("image")};
    turn.recipe.method = method;
    turn.recipe.retention = method == "full" ? 1.0 : 0.3;
    turn.recipe.min_event_tokens = 0;
    turn.recipe = test_support::as_measured(turn.recipe, engine.info.layers, engine.info.kv_heads);
    turn.sampling.max_new_tokens = tokens;
    return turn;
  }

  // Of the tokens by which a long answer is longer than a short one: everything else is the same in both.
  Cost of_more_tokens(EngineOn& engine, Turn turn) {
    constexpr int kFew = 2;
    constexpr int kMany = kFew + KvCache::kBlockSlots;  // every head gets another block
    Finished ended;
    const auto answer = [&](int tokens) {
      turn.sampling.max_new_tokens = tokens;
      engine.run(ForgetConversation{turn.conversation});
      return cost_of([&] {
        const EventRecorder events = engine.run(turn);
        ASSERT_TRUE(events.last<Finished>()) << EngineOn::reason(events);
        ended = *events.last<Finished>();
      });
    };
    answer(kFew);  // encodes the media, which are kept
    const EmulatedGpuCounts few = answer(kFew);
    Cost cost{.tokens = -ended.figures.tokens.generated, .counts = answer(kMany) - few};
    cost.tokens += ended.figures.tokens.generated;
    cost.most_slots = ended.figures.tokens.prompt + ended.figures.tokens.generated;
    return cost;
  }

  // One wait, for the token's number; nothing goes to the device but the numbers of the token, where slots leave a window which ones, and
  // tables of blocks, when a head gets another one.
  static void expect_one_wait(const Cost& cost, const EngineOn& engine, bool has_windows = false) {
    EXPECT_GT(cost.tokens, 0) << "both answers ended early";
    EXPECT_LE(cost.counts.waits, cost.tokens);
    EXPECT_LE(cost.counts.copies_to_host, cost.tokens);
    EXPECT_LE(cost.counts.bytes_to_host, cost.tokens * 8);
    EXPECT_LE(cost.counts.copies_to_device, cost.tokens * (has_windows ? 2 : 1) + engine.info.layers);
  }

  // Of methods that choose on the host what leaves: one more wait, for the rows of attention of all layers, and where slots flow into
  // each other or are shared one for what is similar. Nothing of K, V or logits, which would be more.
  static void expect_rows_of_attention(const Cost& cost, const EngineOn& engine, const Reducer& reducer) {
    EXPECT_GT(cost.tokens, 0) << "both answers ended early";
    const std::int64_t heads = engine.info.layers * engine.info.kv_heads;
    const bool shares = reducer.sharing() != nullptr;
    const std::int64_t waits = 2 + (reducer.needs_similarity() || shares ? 1 : 0);
    const std::int64_t room = KvCache::kBlockSlots + 1;  // what a captured step shows besides
    EXPECT_LE(cost.counts.waits, cost.tokens * waits);
    EXPECT_LE(cost.counts.bytes_to_host, cost.tokens * (8 + heads * (cost.most_slots + 4 * room) * (shares ? 2 : 1) * 4));
  }
};

TEST_F(DecodeCost, IsOneWaitATokenForEveryPreset) {
  EngineOn gpu(Device::kCuda, "gqa_tied");
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    const Turn turn = ask(gpu, method.name, 4);
    const Cost cost = of_more_tokens(gpu, turn);
    if (phase_facts(method.phase).evicts_while_decoding) {
      expect_rows_of_attention(cost, gpu, *Recipe::from_spec(turn.recipe).composition().reducer);
    } else {
      expect_one_wait(cost, gpu);
    }
  }
}

TEST_F(DecodeCost, IsOneWaitATokenForEveryFamily) {
  for (const char* folder : {"qwen2_vl/published", "qwen2_5_vl/saved", "qwen3_vl/published", "qwen3_5/published", "smolvlm/smolvlm2_split",
                             "llava/next_mistral", "llava/next_window", "internvl/qwen2_saved", "gemma3/published"}) {
    SCOPED_TRACE(folder);
    EngineOn gpu(Device::kCuda, folder);
    Turn turn = ask(gpu, "full", 4);
    turn.messages = {{Role::kUser, {TextItem{"What is there?"}}}};
    const std::string name = folder;
    expect_one_wait(of_more_tokens(gpu, turn), gpu, name == "llava/next_window" || name == "gemma3/published");
  }
}

TEST_F(DecodeCost, IsOneWaitATokenWhereWeightsAreInFewBits) {
  for (const auto& [format, name] : {std::pair(WeightFormat::kInt8, "int8"), std::pair(WeightFormat::kInt4, "int4")}) {
    for (const char* folder : {"gqa_tied", "smolvlm/smolvlm2_split"}) {
      SCOPED_TRACE(folder);
      EngineOn gpu(Device::kCuda, folder, format);
      EXPECT_TRUE(gpu.info.dtype.ends_with(name)) << gpu.info.dtype;
      expect_one_wait(of_more_tokens(gpu, ask(gpu, "full", 4)), gpu);
    }
  }
}

// What the host has to start for a token, of which a step on a fast GPU is made. A layer: two norms with what is added before them, four
// products, rotary positions, the append, attention, the gated activation; norms of heads and of what a layer adds where a model has them.
TEST_F(DecodeCost, IsOneReplayOfACapturedStep) {
  for (const char* folder :
       {"gqa_tied", "qwen2_vl/published", "qwen3_vl/published", "internvl/qwen2_saved", "gemma3/published", "llava/next_window"}) {
    SCOPED_TRACE(folder);
    EngineOn gpu(Device::kCuda, folder);
    Turn turn = ask(gpu, "full", 4);
    turn.messages = {{Role::kUser, {TextItem{"What is there?"}}}};
    const Cost cost = of_more_tokens(gpu, turn);
    EXPECT_GT(cost.tokens, 2) << "both answers ended early";
    EXPECT_GE(cost.counts.replays, cost.tokens - 1);  // a short answer is one step and no recording
    EXPECT_LE(cost.counts.recordings, 1);
  }
}

// Who evicts between two tokens looks at all layers when the step is over; what leaves is one launch.
TEST_F(DecodeCost, IsOneReplayWhereSlotsLeave) {
  EngineOn gpu(Device::kCuda, "gqa_tied");
  for (const char* method : {"streaming-llm", "h2o", "d2o"}) {
    SCOPED_TRACE(method);
    const Cost cost = of_more_tokens(gpu, ask(gpu, method, 4));
    EXPECT_GT(cost.tokens, 2) << "both answers ended early";
    EXPECT_GE(cost.counts.replays, cost.tokens - 1);
    EXPECT_LE(cost.counts.recordings, 1);
    EXPECT_LE(cost.counts.launches, cost.tokens * (10 + gpu.info.layers * 11 + 3)) << "rows, what is similar, what leaves";
  }
}

// Shared slots are looked up by the host, so that a step is launched as it is; what they cost beside it does not depend on layers.
TEST_F(DecodeCost, IsThreeWaitsWhereSlotsAreShared) {
  EngineOn gpu(Device::kCuda, "gqa_tied");
  for (const char* method : {"ems", "ems-no-position"}) {
    SCOPED_TRACE(method);
    const Cost cost = of_more_tokens(gpu, ask(gpu, method, 4));
    EXPECT_GT(cost.tokens, 2) << "both answers ended early";
    EXPECT_LE(cost.counts.waits, cost.tokens * 3) << "for attention, for what is similar, for the token's number";
    EXPECT_LE(cost.counts.launches, cost.tokens * (10 + gpu.info.layers * 11 + 4)) << "rows, unit keys, what is similar, what flows";
    EXPECT_LE(cost.counts.copies_to_device, cost.tokens * (3 + gpu.info.layers)) << "and a layer's table";
  }
}

TEST_F(DecodeCost, IsTenLaunchesALayer) {
  struct Family {
    const char* folder;
    std::int64_t layer;   // launches of a layer
    std::int64_t beside;  // of the embedding, the angles, the head, the logits' copy and the choice of the token
    std::int64_t casts;   // of the angles where the arithmetic is in bf16; logits are in fp32 at once
  };
  for (const Family& family : {Family{"gqa_tied", 10, 10, 2},
                               {"internvl/qwen2_saved", 10, 10, 2},
                               {"qwen3_vl/published", 12, 11, 2},
                               {"gemma3/published", 14, 16, 4}}) {
    for (const WeightFormat format : {WeightFormat::kFp32, WeightFormat::kBf16}) {
      const std::int64_t casts = format == WeightFormat::kBf16 ? family.casts : 0;
      SCOPED_TRACE(::testing::Message() << family.folder << " casts " << casts);
      EngineOn gpu(Device::kCuda, family.folder, format);
      Turn turn = ask(gpu, "full", 4);
      turn.messages = {{Role::kUser, {TextItem{"What is there?"}}}};
      const Cost cost = of_more_tokens(gpu, turn);
      ASSERT_GT(cost.tokens, 0) << "both answers ended early";
      EXPECT_LE(cost.counts.launches, cost.tokens * (family.beside + casts + gpu.info.layers * family.layer)) << cost.tokens << " tokens";
    }
  }
}

TEST_F(DecodeCost, IsOneWaitATokenHoweverItIsDrawn) {
  EngineOn gpu(Device::kCuda, "gqa_tied");
  Turn turn = ask(gpu, "full", 4);
  turn.sampling.temperature = 0.9;
  turn.sampling.top_k = 40;
  turn.sampling.top_p = 0.95;
  turn.sampling.min_p = 0.01;
  turn.sampling.seed = 4;
  const Cost cost = of_more_tokens(gpu, turn);
  expect_one_wait(cost, gpu);
  EXPECT_LE(cost.counts.launches, cost.tokens * (11 + gpu.info.layers * 10)) << "one more than the best token takes";
}

}  // namespace
}  // namespace winnow::testing
