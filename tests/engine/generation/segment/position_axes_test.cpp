// A model whose positions have three axes, as Qwen2-VL's (M-RoPE): time, height and width inside a medium, the same on all of them in text,
// and after a medium the largest so far plus one. Nothing between prompt and decoder may count tokens where it means positions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "engine/base/error.h"
#include "engine/generation/requests/plan_turn.h"
#include "engine/generation/requests/run_comparison.h"
#include "engine/generation/requests/run_turn.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"

namespace winnow::testing {
namespace {

using Axes = std::array<std::int64_t, 3>;

// What the decoder was given, token by token of the cache.
struct Seen {
  std::vector<Axes> prompt;           // of the last prefill
  std::vector<std::int64_t> decoded;  // since then
};

// The wrapped decoder turns by the first axis only; what its answers say means nothing.
class ThreeAxisText final : public TextDecoder {
 public:
  ThreeAxisText(const TextDecoder& inner, Seen& seen) : inner_(inner), seen_(seen) {}
  std::int64_t layers() const override { return inner_.layers(); }
  KvShape kv_shape() const override {
    KvShape shape = inner_.kv_shape();
    shape.rope_theta = 0.0;
    return shape;
  }
  std::int64_t vocabulary() const override { return inner_.vocabulary(); }
  at::Tensor embed(const at::Tensor& ids) const override { return inner_.embed(ids); }
  void prefill_layer(LayerId layer, at::Tensor& hidden, const at::Tensor& positions, std::span<const std::int32_t> original, KvCache& cache,
                     PrefillObserver* observer, const AttentionWindow& window, const InterruptToken& interrupt) const override {
    ASSERT_EQ(positions.size(0), 3);
    ASSERT_EQ(positions.size(1), hidden.size(0));
    if (layer == 0) seen_ = {};
    if (layer == layers() - 1) {  // after pruning between layers
      seen_.prompt.resize(static_cast<std::size_t>(positions.size(1)));
      for (std::size_t i = 0; i < seen_.prompt.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
          seen_.prompt[i][axis] = positions[static_cast<std::int64_t>(axis)][static_cast<std::int64_t>(i)].item<std::int64_t>();
    }
    inner_.prefill_layer(layer, hidden, positions.narrow(0, 0, 1), original, cache, observer, window, interrupt);
  }
  at::Tensor logits(const at::Tensor& hidden) const override { return inner_.logits(hidden); }
  at::Tensor decode(const NextToken& token, KvCache& cache, DecodeObserver* observer) const override {
    seen_.decoded.push_back(token.position);
    return inner_.decode(token, cache, observer);
  }

 private:
  const TextDecoder& inner_;
  Seen& seen_;
};

class ThreeAxisModel final : public VisionLanguageModel {
 public:
  ThreeAxisModel(std::unique_ptr<VisionLanguageModel> inner, Seen& seen)
      : inner_(std::move(inner)), info_(inner_->info()), text_(inner_->text(), seen) {}
  ModelInfo& changed_info() { return info_; }

  const ModelInfo& info() const override { return info_; }
  const TextDecoder& text() const override { return text_; }
  std::string_view chat_template() const override { return inner_->chat_template(); }
  std::int64_t image_token_id() const override { return inner_->image_token_id(); }
  std::int64_t video_token_id() const override { return inner_->video_token_id(); }
  TokenPositions positions_for(std::span<const TokenOrigin> origins, std::int64_t next_position) const override {
    std::vector<std::int64_t> axes[3];
    std::int32_t medium = -1;
    std::int64_t first = next_position;
    for (const TokenOrigin& origin : origins) {
      if (origin.media != medium) first = next_position;
      medium = origin.media;
      const bool visual = origin.modality == Modality::kVisual;
      const Axes at = {first + (visual ? std::max(origin.frame, 0) : 0), first + (visual ? std::max<std::int64_t>(origin.row, 0) : 0),
                       first + (visual ? std::max<std::int64_t>(origin.column, 0) : 0)};
      for (std::size_t axis = 0; axis < 3; ++axis) axes[axis].push_back(at[axis]);
      next_position = std::max(next_position, *std::max_element(at.begin(), at.end()) + 1);
      if (!visual) first = next_position;
    }
    return {at::stack({at::tensor(axes[0]), at::tensor(axes[1]), at::tensor(axes[2])}).to(at::kLong), next_position};
  }
  PixelValues preprocess_image(const RgbImage& image, ImageTiling tiling) const override { return inner_->preprocess_image(image, tiling); }
  PixelValues preprocess_frames(std::span<const RgbImage> frames) const override { return inner_->preprocess_frames(frames); }
  std::vector<TokenOrigin> image_origins(std::int64_t height_px, std::int64_t width_px, ImageTiling tiling) const override {
    return inner_->image_origins(height_px, width_px, tiling);
  }
  std::vector<TokenOrigin> video_origins(std::int64_t frames) const override { return inner_->video_origins(frames); }
  MediaFeatures encode_image(const PixelValues& image, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const override {
    return inner_->encode_image(image, judge, interrupt);
  }
  FrameFeatures encode_frames(const PixelValues& frames, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const override {
    return inner_->encode_frames(frames, judge, interrupt);
  }
  MediaFeatures join_frames(const FrameFeatures& frames) const override { return inner_->join_frames(frames); }

 private:
  std::unique_ptr<VisionLanguageModel> inner_;
  ModelInfo info_;
  ThreeAxisText text_;
};

class PositionAxes : public ::testing::Test {
 protected:
  void SetUp() override {
    LoadModel request;
    request.folder = golden_.model_folder();
    request.format = WeightFormat::kFp32;
    model_ = load_folder(
        request, [](std::uint64_t, std::uint64_t) {}, InterruptToken());
    auto wrapped = std::make_unique<ThreeAxisModel>(std::move(model_->network), seen_);
    network_ = wrapped.get();
    model_->network = std::move(wrapped);
  }

  RequestContext context() { return {*model_, &opener_, emit_, InterruptToken()}; }

  // A video of `frames` frames between words.
  Turn question(const std::string& method, double retention, int frames = 6) {
    std::vector<RgbImage> pictures;
    for (int frame = 0; frame < frames; ++frame) {
      pictures.push_back({40, 40, std::vector<std::uint8_t>(40 * 40 * 3, static_cast<std::uint8_t>(20 * frame))});
    }
    const std::string name = "clip of " + std::to_string(frames);
    opener_.add(name, pictures);
    Turn turn;
    turn.conversation = 7;
    turn.messages = {{Role::kUser, {MediaItem{{name, MediaKind::kVideo, {}}}, TextItem{"What moves?"}}}};
    turn.recipe.method = method;
    turn.recipe.retention = retention;
    turn.recipe.min_event_tokens = 0;
    turn.sampling.max_new_tokens = 5;
    return turn;
  }

  // Of a prompt: text counts on, a video of F frames of 2 x 2 tokens takes max(F, 2) positions.
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
        EXPECT_EQ(found[i], (Axes{start + origin.frame, start + origin.row, start + origin.column})) << i;
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
  ThreeAxisModel* network_ = nullptr;
  const c10::InferenceMode inference_;
};

TEST_F(PositionAxes, APromptAnAnswerAndTheNextTurn) {
  ConversationStates states;
  Turn turn = question("snapkv", 0.5);
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

  const auto before = after.origins.size();
  turn.messages.push_back({Role::kAssistant, {TextItem{first.answer}}});
  turn.messages.push_back({Role::kUser, {TextItem{"And then?"}}});
  run_turn(context(), turn, states);
  ASSERT_FALSE(seen_.prompt.empty());
  EXPECT_EQ(seen_.prompt.front(), (Axes{next, next, next}));
  const Conversation& later = *states.current;
  expect_prompt({later.origins.begin() + static_cast<std::ptrdiff_t>(before),
                 later.origins.begin() + static_cast<std::ptrdiff_t>(before + seen_.prompt.size())},
                seen_.prompt, next);
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
  network_->changed_info().context_tokens = needed;
  EXPECT_TRUE(plan_turn(context(), turn, {}).fits_context);
  ConversationStates enough;
  EXPECT_NO_THROW(run_turn(context(), turn, enough));
  network_->changed_info().context_tokens = needed - 1;
  EXPECT_FALSE(plan_turn(context(), turn, {}).fits_context);
  ConversationStates none;
  try {
    run_turn(context(), turn, none);
    ADD_FAILURE() << "it ran";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kContextFull);
  }
}

// Methods that turn keys themselves know one axis; they say so.
TEST_F(PositionAxes, MethodsOfOneAxisRefuse) {
  Turn in_cache = question("streaming-llm", 0.3);
  in_cache.recipe.options["rope"] = "in-cache";
  for (const Turn& turn : {in_cache, question("ems-no-position", 0.3)}) {
    ConversationStates states;
    try {
      run_turn(context(), turn, states);
      ADD_FAILURE() << turn.recipe.method << " ran";
    } catch (const Exception& exception) {
      EXPECT_EQ(exception.error().code, ErrorCode::kIllegalRecipe) << turn.recipe.method;
      EXPECT_NE(exception.error().reason.find("one-axis"), std::string::npos) << exception.error().reason;
    }
  }
}

}  // namespace
}  // namespace winnow::testing
