// A family with another vision encoder and other positions than LLaVA's (three_axis_family.h) through every request. Nothing between prompt
// and decoder may count tokens where it means positions, frames where it means sets of tokens, or take a picture's size for the tower's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "engine/base/error.h"
#include "engine/generation/requests/conversation_file.h"
#include "engine/generation/requests/plan_turn.h"
#include "engine/generation/requests/run_comparison.h"
#include "engine/generation/requests/run_prepare.h"
#include "engine/generation/requests/run_score.h"
#include "engine/generation/requests/run_turn.h"
#include "engine/generation/requests/run_watch.h"
#include "engine/recipes/method_info.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/engine/generation/three_axis_family.h"
#include "tests/support/event_recorder.h"
#include "tests/support/measured_options.h"
#include "tests/support/scratch_folder.h"

namespace winnow::testing {
namespace {

constexpr double kFrameS = 0.5;

class PositionAxes : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = load_folder(golden_.in_fp32(), {}, InterruptToken());
    model_->network = three_axis_model(*model_->network, seen_);
    network_ = model_->network.get();
  }

  void set_context(std::int64_t tokens) {
    ModelInfo changed = network_->info();
    changed.context_tokens = tokens;
    network_->set_info(std::move(changed));
  }

  RequestContext context() { return {*model_, &opener_, emit_, InterruptToken()}; }

  static std::vector<SampledFrame> clip(int first, int count) {
    std::vector<SampledFrame> frames;
    for (int i = first; i < first + count; ++i) frames.push_back({kFrameS * i, kFrameS * i, patterned_picture(40, 40, i)});
    return frames;
  }
  Turn source(const std::string& method, std::int64_t cap) {
    Turn turn = question(method, 1.0);
    turn.recipe.budget_tokens = cap;
    turn.guard = Guard::kAlone;
    turn.messages = {watched_camera(kFrameS)};
    return turn;
  }

  // A video of `frames` frames between words.
  Turn question(const std::string& method, double retention, int frames = 6) {
    std::vector<RgbImage> pictures;
    for (int frame = 0; frame < frames; ++frame) pictures.push_back(patterned_picture(40, 40, frame));
    const std::string name = "clip of " + std::to_string(frames);
    opener_.add(name, pictures);
    return {.conversation = 7,
            .messages = {{Role::kUser, {MediaItem{{name, MediaKind::kVideo, {}}}, TextItem{"What moves?"}}}},
            .sampling = {.max_new_tokens = 5},
            .recipe = {.method = method, .retention = retention, .min_event_tokens = 0}};
  }

  // Of a prompt: text counts on, a video of F frames in pairs of 2 x 2 tokens takes max(F / 2, 2) positions.
  static std::int64_t expect_prompt(const std::vector<TokenOrigin>& origins, const std::vector<Axes>& found, std::int64_t next) {
    EXPECT_EQ(origins.size(), found.size());
    std::int64_t start = next;
    for (std::size_t i = 0; i < std::min(origins.size(), found.size()); ++i) {
      const TokenOrigin& origin = origins[i];
      if (origin.modality != Modality::kVisual) {
        EXPECT_EQ(found[i], (Axes{next, next, next})) << i;
        start = ++next;
        continue;
      }
      if (origin.row >= 0) {
        EXPECT_EQ(found[i], (Axes{start + origin.frame / 2, start + origin.row, start + origin.column})) << i;
      }
      next = std::max({next, found[i][0] + 1, found[i][1] + 1, found[i][2] + 1});
    }
    return next;
  }

  GoldenFolder golden_{"gqa_tied"};
  MemoryMediaOpener opener_;
  EventRecorder recorder_;
  EmitEvent emit_{recorder_, 1};
  Seen seen_;
  std::unique_ptr<LoadedModel> model_;
  VisionLanguageModel* network_ = nullptr;
  const c10::InferenceMode inference_;
};

TEST_F(PositionAxes, APromptAnAnswerAndTheNextTurn) {
  ConversationStates states;
  Turn turn = question("snapkv", 0.5);
  turn.sampling.stop_strings = {"\x01\x02\x03\x04"};  // no drafts: each step reads one token
  const Finished first = run_turn(context(), turn, states);
  const Conversation& after = *states.current;
  const auto prompt = static_cast<std::size_t>(first.figures.tokens.prompt);
  const std::vector<TokenOrigin> origins(after.origins.begin(), after.origins.begin() + static_cast<std::ptrdiff_t>(prompt));
  const std::int64_t answer_at = expect_prompt(origins, seen_.prompt, 0);
  EXPECT_LT(answer_at, static_cast<std::int64_t>(prompt)) << "otherwise tokens could have been counted";
  ASSERT_FALSE(seen_.decoded.empty());
  for (std::size_t i = 0; i < seen_.decoded.size(); ++i) EXPECT_EQ(seen_.decoded[i], answer_at + static_cast<std::int64_t>(i));
  const std::int64_t next = after.next_position;
  EXPECT_EQ(next, answer_at + std::ssize(seen_.decoded));

  const auto before = after.origins.size() + 1;  // the cut answer's last token is read first
  turn.messages.push_back({Role::kAssistant, {TextItem{first.answer}}});
  turn.messages.push_back({Role::kUser, {TextItem{"And then?"}}});
  run_turn(context(), turn, states);
  ASSERT_FALSE(seen_.prompt.empty());
  EXPECT_EQ(seen_.prompt.front(), (Axes{next + 1, next + 1, next + 1}));
  const Conversation& later = *states.current;
  expect_prompt({later.origins.begin() + static_cast<std::ptrdiff_t>(before),
                 later.origins.begin() + static_cast<std::ptrdiff_t>(before + seen_.prompt.size())},
                seen_.prompt, next + 1);
}

TEST_F(PositionAxes, ATraceHasAllAxes) {
  TurnTrace trace;
  RequestContext traced = context();
  traced.trace = &trace;
  ConversationStates states;
  run_turn(traced, question("full", 1.0), states);
  EXPECT_EQ(trace.position_ids.size(0), 3);
  EXPECT_EQ(trace.position_ids.size(1), trace.input_ids.size(0));
}

// What stays keeps the place that it has in the whole prompt.
TEST_F(PositionAxes, TokensPrunedBetweenLayersTakeTheirPositionsAlong) {
  ConversationStates states;
  run_turn(context(), question("full", 1.0), states);
  const Seen whole = seen_;
  ConversationStates pruned;
  Turn turn = question("fastv", 0.5);
  turn.recipe.options["layer"] = "1";
  run_turn(context(), turn, pruned);
  ASSERT_LT(seen_.prompt.size(), whole.prompt.size());
  std::size_t at = 0;
  for (const Axes& each : seen_.prompt) {
    while (at < whole.prompt.size() && whole.prompt[at] != each) ++at;
    ASSERT_LT(at++, whole.prompt.size());
  }
  EXPECT_EQ(seen_.decoded.front(), whole.decoded.front());
}

TEST_F(PositionAxes, ColumnsOfAComparisonGoOnFromTheSamePosition) {
  ConversationStates states;
  Compare compare;
  const Turn turn = question("full", 1.0);
  compare.conversation = turn.conversation;
  compare.messages = turn.messages;
  compare.sampling = turn.sampling;
  RecipeSpec half = turn.recipe;
  half.method = "snapkv";
  half.retention = 0.5;
  compare.recipes = {turn.recipe, half};
  compare.scores = ColumnScores::kNone;
  run_comparison(context(), compare, states);
  const std::int64_t first = *std::min_element(seen_.decoded.begin(), seen_.decoded.end());
  EXPECT_EQ(std::count(seen_.decoded.begin(), seen_.decoded.end(), first), 2);
}

// The context limit is one of positions: a clip may have more tokens than the model has positions.
TEST_F(PositionAxes, TheContextIsFullWhenPositionsAre) {
  ConversationStates probe;
  Turn turn = question("full", 1.0, 30);
  const std::int64_t tokens = run_turn(context(), turn, probe).figures.tokens.prompt;
  const std::int64_t needed = seen_.decoded.front() + turn.sampling.max_new_tokens;
  ASSERT_LT(needed, tokens);
  set_context(needed);
  EXPECT_TRUE(plan_turn(context(), turn, {}).fits_context);
  ConversationStates enough;
  EXPECT_NO_THROW(run_turn(context(), turn, enough));
  set_context(needed - 1);
  EXPECT_FALSE(plan_turn(context(), turn, {}).fits_context);
  ConversationStates none;
  try {
    run_turn(context(), turn, none);
    ADD_FAILURE() << "it ran";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kContextFull);
  }
}

// Every preset either answers, holding what its recipe says, or is refused when it is chosen, with the reason that the window greys it by;
// nothing has been decoded then.
TEST_F(PositionAxes, EveryPresetAnswersOrIsRefusedWhenItIsChosen) {
  const ModelInfo& info = network_->info();
  std::set<std::string> refused;
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    Turn turn = question(method.name, 0.5, 12);
    turn.recipe = test_support::as_measured(turn.recipe, info.layers, info.kv_heads);
    const std::optional<Error> problem = recipe_problem(turn.recipe, info.traits);
    ConversationStates states;
    const int read = opener_.pictures_read;
    try {
      const Planned planned = plan_turn(context(), turn, states);
      const Finished finished = run_turn(context(), turn, states);
      EXPECT_FALSE(problem) << problem->reason;
      EXPECT_EQ(planned.tokens.prompt, finished.figures.tokens.prompt);
      EXPECT_EQ(planned.kv_bytes_after_event, finished.figures.kv_bytes.after_event);
      EXPECT_GT(finished.figures.tokens.generated, 0);
      EXPECT_EQ(states.current->positions.size(), std::ssize(states.current->origins));
    } catch (const Exception& exception) {
      ASSERT_TRUE(problem) << exception.error().reason;
      EXPECT_EQ(exception.error().reason, problem->reason);
      EXPECT_EQ(opener_.pictures_read, read);
      refused.insert(method.name);
    }
  }
  EXPECT_EQ(refused, (std::set<std::string>{"ems-no-position", "fastervlm", "ivtp"}));
}

// The last token of an answer that was cut is counted, not read: a plan is made while somebody types.
TEST_F(PositionAxes, APlanAfterACutAnswerRunsNothing) {
  const ModelInfo& info = network_->info();
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    Turn turn = question(method.name, method.name == "full" ? 1.0 : 0.4, 12);
    turn.recipe = test_support::as_measured(turn.recipe, info.layers, info.kv_heads);
    if (recipe_problem(turn.recipe, info.traits)) continue;
    ConversationStates states;
    const Finished first = run_turn(context(), turn, states);
    ASSERT_EQ(first.reason, StopReason::kLength);
    turn.messages.push_back({Role::kAssistant, {TextItem{first.answer}}});
    turn.messages.push_back({Role::kUser, {TextItem{"And then?"}}});
    seen_ = {};
    const Planned planned = plan_turn(context(), turn, states);
    EXPECT_TRUE(seen_.prompt.empty());
    EXPECT_TRUE(seen_.decoded.empty());
    const TurnFigures figures = run_turn(context(), turn, states).figures;
    EXPECT_EQ(planned.kv_bytes_full, figures.kv_bytes.full);
    EXPECT_EQ(planned.kv_bytes_after_event, figures.kv_bytes.after_event);
    EXPECT_EQ(planned.tokens.prompt, figures.tokens.prompt);
  }
}

TEST_F(PositionAxes, PositionsInsideTheCacheAreRefusedToo) {
  Turn turn = question("streaming-llm", 0.3);
  turn.recipe.options["rope"] = "in-cache";
  EXPECT_TRUE(recipe_problem(turn.recipe, network_->info().traits));
  EXPECT_FALSE(recipe_problem(turn.recipe, ModelTraits()));
  ConversationStates states;
  EXPECT_THROW(run_turn(context(), turn, states), Exception);
}

// A picture of 48 x 112 px is 7 x 3 tokens, of 16 x 16 px one; 5 frames are three pairs.
TEST_F(PositionAxes, PicturesKeepTheirSizeAndFramesComeInPairs) {
  opener_.add("tall", {patterned_picture(48, 112, 1)});
  opener_.add("small", {patterned_picture(16, 16, 2)});
  Turn turn = question("full", 1.0, 5);
  turn.messages.front().items.insert(turn.messages.front().items.begin(),
                                     {MediaItem{{"tall", MediaKind::kImage, {}}}, MediaItem{{"small", MediaKind::kImage, {}}}});
  ConversationStates states;
  const Finished finished = run_turn(context(), turn, states);
  EXPECT_EQ(finished.figures.tokens.visual, 7 * 3 + 1 + 3 * 2 * 2);
  std::set<std::int32_t> frames;
  for (const TokenOrigin& origin : states.current->origins) {
    if (origin.media == 2) frames.insert(origin.frame);
  }
  EXPECT_EQ(frames, (std::set<std::int32_t>{0, 2, 4}));
  EXPECT_EQ(recorder_.last<MediaSampled>()->actual_s.size(), 5U);
}

// The second frame of a pair is pinned by its own time, and with it the pair.
TEST_F(PositionAxes, APinOfEitherFramePinsThePair) {
  for (const double at_s : {4.0, 5.0}) {
    Turn turn = question("snapkv", 0.3, 12);
    turn.pins = {{0, at_s - 0.1, at_s + 0.4}};
    ConversationStates states;
    const Planned planned = plan_turn(context(), turn, states);
    const Finished finished = run_turn(context(), turn, states);
    EXPECT_EQ(planned.kv_bytes_after_event, finished.figures.kv_bytes.after_event);
    const Conversation& after = *states.current;
    ASSERT_EQ(after.pinned.size(), 4U) << at_s;
    for (const std::int32_t token : after.pinned) EXPECT_EQ(after.origins[static_cast<std::size_t>(token)].frame, 4);
    for (LayerId layer{0}; layer < after.cache.shape().layers; ++layer) {
      for (KvHead head{0}; head < after.cache.shape().kv_heads; ++head) {
        const std::span<const std::int32_t> kept = after.cache.original(layer, head);
        for (const std::int32_t token : after.pinned) EXPECT_NE(std::find(kept.begin(), kept.end(), token), kept.end());
      }
    }
  }
}

TEST_F(PositionAxes, PreparedMediaGuardsAndScores) {
  Turn turn = question("self-study", 0.5, 12);
  ConversationStates at_once;
  const Finished expected = run_turn(context(), turn, at_once);
  ConversationStates states;
  Turn media = turn;
  media.messages.back().items.pop_back();
  run_prepare(context(), media, states);
  EXPECT_EQ(run_turn(context(), turn, states).answer, expected.answer);
  for (const Guard guard : {Guard::kKeep, Guard::kPrefill, Guard::kRam, Guard::kAlone}) {
    Turn first = question("snapkv", 0.5, 12);
    first.guard = guard;
    ConversationStates thread;
    const Finished answered = run_turn(context(), first, thread);
    first.messages.push_back({Role::kAssistant, {TextItem{answered.answer}}});
    first.messages.push_back({Role::kUser, {TextItem{"And then?"}}});
    EXPECT_GT(run_turn(context(), first, thread).figures.tokens.generated, 0) << static_cast<int>(guard);
  }
  Score score{.turn = question("full", 1.0, 12)};
  ConversationStates whole;
  score.answer = run_turn(context(), score.turn, whole).answer;
  EXPECT_DOUBLE_EQ(run_score(context(), score, whole).agreement.top1, 1.0) << "an uncompressed cache agrees with itself";
}

// What is kept on disk has the positions that it was read with.
TEST_F(PositionAxes, AThreadGoesOnFromDisk) {
  Turn turn = question("self-study", 0.5, 12);
  ConversationStates states;
  const Finished first = run_turn(context(), turn, states);
  const test::ScratchFolder folder;
  const std::string path = folder.path() + "/7.safetensors";
  EXPECT_GT(write_conversation(path, "this model", states, 1 << 30), 0);
  ConversationStates restored = read_conversation(context(), path, "this model");
  const PositionList& positions = restored.current->positions;
  EXPECT_TRUE(at::equal(positions.slice(0, positions.size()), states.current->positions.slice(0, positions.size())));
  turn.messages.push_back({Role::kAssistant, {TextItem{first.answer}}});
  turn.messages.push_back({Role::kUser, {TextItem{"And then?"}}});
  EXPECT_EQ(run_turn(context(), turn, restored).answer, run_turn(context(), turn, states).answer);
}

// A source without an end: the model says where frames stand, and when places have to be shared its keys move to where it has them then.
TEST_F(PositionAxes, AWatchedSourceStaysWithinTheModelsPositions) {
  set_context(512 + 8 + 20);  // beside a question and its answer
  Turn turn = source("kvzip-stream", 24);
  turn.sampling.max_new_tokens = 8;
  ConversationStates states;
  Watched watched;
  for (int i = 0; i < 12; ++i) watched = run_watch(context(), {turn, i == 0, clip(8 * i, 8)}, states);
  EXPECT_EQ(watched.frames, 96);
  EXPECT_GT(watched.frames_per_position, 1);
  ASSERT_EQ(watched.shares.size(), 96U);
  for (std::size_t frame = 0; frame < 96; frame += 2) EXPECT_EQ(watched.shares[frame], watched.shares[frame + 1]) << "of one pair";
  const Conversation& state = states.prepared->state;
  const std::int64_t first = states.watched->clips.first_original();
  const auto origins = std::span(state.origins).subspan(static_cast<std::size_t>(first));
  const at::Tensor placed = network_->positions_of_stream(origins, states.watched->stream).positions;
  EXPECT_TRUE(at::equal(state.positions.slice(first, std::ssize(origins)), placed));
  EXPECT_LE(placed.max().item<std::int64_t>(), 20);

  // Rotated back by the positions that the state says they have, keys of the first layer are those of the tokens themselves.
  const KvShape& shape = state.cache.shape();
  ConversationStates wide;
  set_context(4096);
  Watched apart;
  Turn all = turn;
  all.recipe.budget_tokens = 100'000;
  for (int i = 0; i < 12; ++i) apart = run_watch(context(), {all, i == 0, clip(8 * i, 8)}, wide);
  EXPECT_EQ(apart.frames_per_position, 1);
  const Conversation& whole = wide.prepared->state;
  const auto unrotated = [&](const Conversation& of) {
    std::vector<std::int64_t> slots(of.cache.original(LayerId(0), KvHead(0)).begin(), of.cache.original(LayerId(0), KvHead(0)).end());
    const at::Tensor turns = of.positions.slice(0, of.positions.size()).index_select(1, at::tensor(slots, at::kLong)).to(at::kFloat);
    return rotated_keys(of.cache.gather_keys(LayerId(0), KvHead(0)).to(at::kFloat), -turns, shape.rotary);
  };
  const at::Tensor left = unrotated(state);
  const at::Tensor every = unrotated(whole);
  const std::span<const std::int32_t> kept = state.cache.original(LayerId(0), KvHead(0));
  for (std::size_t slot = 0; slot < kept.size(); ++slot)
    EXPECT_LE((left[static_cast<std::int64_t>(slot)] - every[kept[slot]]).abs().max().item<double>(), 1e-4) << slot;

  Turn asked = turn;
  asked.messages.back().items.emplace_back(TextItem{"What moves?"});
  EXPECT_GT(run_turn(context(), asked, states).figures.tokens.generated, 0);
}

}  // namespace
}  // namespace winnow::testing
