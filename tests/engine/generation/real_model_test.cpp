// A real model behind the engine's face: it answers, under every method that is legal for it, and goes on from what that left.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/engine.h"
#include "tests/support/event_recorder.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/measured_options.h"
#include "tests/support/real_model.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

// Its answer leads by 2.5 nats at every token. ("... of France?" by 0.08: rounding inputs to 8 bits, as blocks of weights are read, turns
// it.)
constexpr const char* kJapan = "What is the capital of Japan?";
constexpr const char* kNotes =
    "Notes of the harbour office. The night watchman is called Mr. Petrov. The blue boat belongs to Anna. The code of the north gate is "
    "4817. The lamp on the pier was mended in May. Coffee is served at six in the morning, and the cat sleeps in the office.\n";

class Document final : public FrameSource {
 public:
  explicit Document(std::string text) : text_(std::move(text)) {}
  MediaKind kind() const override { return MediaKind::kDocument; }
  PictureSize picture_size() const override { return {}; }
  double duration_s() const override { return 0.0; }
  int frame_count() const override { return 0; }
  std::string content_hash() const override { return "text:" + std::to_string(text_.size()); }
  std::string text() const override { return text_; }
  std::vector<SampledFrame> read(int, int, const InterruptToken&) override { return {}; }

 private:
  std::string text_;
};

// One document, whatever the path.
class DocumentOpener final : public MediaOpener {
 public:
  std::unique_ptr<FrameSource> open(const MediaRequest&, const InterruptToken&) override {
    ++opened;
    return std::make_unique<Document>(kNotes);
  }
  int opened = 0;
};

struct Written {
  at::Tensor logits;  // of every token that was read
  at::Tensor generated;
  std::string answer;
};

class RealModel : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string file = test_support::real_model();
    if (file.empty()) return;
    opener = std::make_unique<DocumentOpener>();
    engine = make_engine(opener.get());
    LoadModel load{.folder = file};
    const EventRecorder events = run(load);
    ASSERT_TRUE(events.last<ModelLoaded>()) << events.last<Failed>()->error.reason;
    info = events.last<ModelLoaded>()->info;
  }
  static void TearDownTestSuite() {
    engine.reset();
    opener.reset();
  }
  void SetUp() override {
    if (engine == nullptr) GTEST_SKIP() << test_support::kNoRealModel;
    run(ForgetConversation{1});
  }

  static EventRecorder run(RequestBody body) {
    EventRecorder events;
    engine->handle({1, std::move(body)}, events, InterruptToken());
    return events;
  }
  static Finished finished(const EventRecorder& events) {
    EXPECT_TRUE(events.last<Finished>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no outcome");
    return events.last<Finished>().value_or(Finished{});
  }
  static MediaItem notes() { return {.media = {.path = "notes.txt", .kind = MediaKind::kDocument}}; }
  static Turn ask(std::vector<Item> items, const std::string& method = "full", double retention = 1.0, int tokens = 12) {
    Turn turn;
    turn.conversation = 1;
    turn.messages = {{Role::kUser, std::move(items)}};
    turn.recipe.method = method;
    turn.recipe.retention = retention;
    turn.recipe.min_event_tokens = 0;
    turn.recipe = test_support::as_measured(turn.recipe, info.layers, info.kv_heads);
    turn.sampling.max_new_tokens = tokens;
    return turn;
  }
  static Turn after(Turn turn, const std::string& answer, const std::string& question) {
    turn.messages.push_back({Role::kAssistant, {TextItem{answer}}});
    turn.messages.push_back({Role::kUser, {TextItem{question}}});
    return turn;
  }
  Written written(const Turn& turn) {
    const std::string file = scratch_.file("turn.safetensors");
    const EventRecorder events = run(ExportTurn{turn, file, ExportLogits::kAllPositions});
    Written out{{}, {}, finished(events).answer};
    if (::testing::Test::HasFailure()) return out;
    const test_support::GoldenTensors tensors(file);
    return {tensors.load("logits"), tensors.load("generated"), out.answer};
  }
  // The question, and another one behind it: the second reads what the event and the answer left.
  std::vector<Written> two_turns(const Turn& turn) {
    run(ForgetConversation{1});
    std::vector<Written> turns = {written(turn)};
    Turn next = after(turn, turns[0].answer, "And of Italy?");
    next.sampling.max_new_tokens = 3;
    turns.push_back(written(next));
    return turns;
  }
  // Methods that the model can run, as they are.
  static std::vector<MethodInfo> legal_methods() {
    std::vector<MethodInfo> legal;
    for (const MethodInfo& method : list_methods()) {
      const Turn turn = ask({TextItem{kJapan}}, method.name, 0.5);
      if (!recipe_problem(turn.recipe, info.traits)) legal.push_back(method);
    }
    return legal;
  }

  static inline std::unique_ptr<DocumentOpener> opener;
  static inline std::unique_ptr<Engine> engine;
  static inline ModelInfo info;
  test::ScratchFolder scratch_;
};

TEST_F(RealModel, KnowsTheCapitalOfJapan) {
  const Turn turn = ask({TextItem{kJapan}}, "full", 1.0, 16);
  const std::string answer = finished(run(turn)).answer;
  EXPECT_EQ(answer, "The capital of Japan is Tokyo.");
  EXPECT_NE(finished(run(after(turn, answer, "And of Italy?"))).answer.find("Rome"), std::string::npos);
  EXPECT_FALSE(info.traits.sees);
}

TEST_F(RealModel, FullRetentionIsFullForEveryMethod) {
  const std::vector<MethodInfo> methods = legal_methods();
  ASSERT_GE(methods.size(), 20U);
  const auto asked = [](const std::string& method) { return ask({notes(), TextItem{kJapan}}, method, 1.0, 6); };
  const std::vector<Written> full = two_turns(asked("full"));
  for (const MethodInfo& method : methods) {
    const std::vector<Written> turns = two_turns(asked(method.name));
    for (std::size_t i = 0; i < turns.size(); ++i) {
      EXPECT_TRUE(at::equal(turns[i].logits, full[i].logits)) << method.name << ", turn " << i;
      EXPECT_TRUE(at::equal(turns[i].generated, full[i].generated)) << method.name << ", turn " << i;
    }
  }
}

// It repeats what stands above: the words are those of a step for every token, which a stop string asks for.
TEST_F(RealModel, QuotesTheSameFromDrafts) {
  for (const std::string method : {"full", "snapkv"}) {
    Turn turn = ask({TextItem{kNotes + std::string("Repeat the notes of the harbour office.")}}, method, 0.9, 80);
    const Finished drafted = finished(run(turn));
    run(ForgetConversation{1});
    turn.sampling.stop_strings = {"\x01\x02"};
    const Finished apart = finished(run(turn));
    EXPECT_EQ(drafted.answer, apart.answer) << method;
    EXPECT_EQ(drafted.figures.kv_bytes.end, apart.figures.kv_bytes.end) << method;
    EXPECT_GT(drafted.figures.tokens.drafted, 0) << method << ": " << drafted.answer;
    EXPECT_EQ(apart.figures.tokens.drafted, 0) << method;
    std::printf("%s: %lld of %lld tokens drafted, %.0f ms instead of %.0f\n", method.c_str(),
                static_cast<long long>(drafted.figures.tokens.drafted), static_cast<long long>(drafted.figures.tokens.generated),
                drafted.figures.timings_ms.decode_total, apart.figures.timings_ms.decode_total);
    run(ForgetConversation{1});
  }
}

TEST_F(RealModel, EveryMethodThatItCannotRunIsRefusedInASentence) {
  for (const MethodInfo& method : list_methods()) {
    const Turn turn = ask({TextItem{kJapan}}, method.name, 0.5);
    const std::optional<Error> problem = recipe_problem(turn.recipe, info.traits);
    if (!problem) continue;
    EXPECT_EQ(problem->code, ErrorCode::kIllegalRecipe) << method.name;
    EXPECT_TRUE(problem->reason.ends_with("this model reads text only")) << method.name << ": " << problem->reason;
    const EventRecorder events = run(turn);
    ASSERT_TRUE(events.last<Failed>()) << method.name;
    EXPECT_EQ(events.last<Failed>()->error.reason, problem->reason) << method.name;
  }
}

TEST_F(RealModel, AnswersFromAFifthOfADocument) {
  for (const MethodInfo& method : legal_methods()) {
    run(ForgetConversation{1});
    const EventRecorder events = run(ask({notes(), TextItem{"What is the code of the north gate?"}}, method.name, 0.2, 5));
    EXPECT_FALSE(finished(events).answer.empty()) << method.name;
    if (method.name == "full" || method.phase == MethodPhase::kPrefill) continue;
    EXPECT_LT(finished(events).figures.kv_bytes.after_event, finished(events).figures.kv_bytes.full) << method.name;
  }
}

// What rounding the cache does to what it chooses, against the cache in 32 bits, in which the model computes here. Teacher-forced over an
// answer of its own, behind more tokens than caches of codes hold in 16 bits.
TEST_F(RealModel, ACacheInFewerBitsChoosesAlmostTheSame) {
  const std::unique_ptr<Engine> in_fp32 = make_engine(opener.get());
  LoadModel load{.folder = test_support::real_model(), .format = WeightFormat::kFp32};
  EventRecorder loaded;
  in_fp32->handle({1, load}, loaded, InterruptToken());
  ASSERT_TRUE(loaded.last<ModelLoaded>()) << loaded.last<Failed>()->error.reason;
  std::string licence(2400, ' ');
  std::ifstream(source_folder() + "/LICENSE").read(licence.data(), std::ssize(licence));
  for (const auto& [method, share] : {std::pair{"full", 1.0}, std::pair{"kvzip", 0.6}}) {
    Compare compare;
    for (const int bits : {32, 16, 8, 4}) {
      const Turn turn = ask({TextItem{licence}, notes(), TextItem{"Tell me all that the notes say."}}, method, share, 60);
      compare.conversation = turn.conversation;
      compare.messages = turn.messages;
      compare.sampling = turn.sampling;
      compare.recipes.push_back(turn.recipe);
      compare.recipes.back().kv_bits = bits;
    }
    EventRecorder events;
    in_fp32->handle({2, compare}, events, InterruptToken());
    ASSERT_TRUE(events.last<Compared>()) << events.last<Failed>()->error.reason;
    const std::vector<Scored> scores = events.all<Scored>();
    const std::vector<Finished> answers = events.all<Finished>();
    ASSERT_EQ(scores.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
      std::printf("%s, %d bits: %lld bytes, same choice %.3f, mean KL %.3g nats a token\n", method, compare.recipes[i].kv_bits,
                  static_cast<long long>(answers[i].figures.kv_bytes.after_event), scores[i].agreement.top1,
                  scores[i].agreement.mean_kl.value_or(0.0));
    }
    EXPECT_EQ(answers[1].figures.kv_bytes.after_event * 2, answers[0].figures.kv_bytes.after_event);
    EXPECT_LT(answers[2].figures.kv_bytes.after_event, answers[1].figures.kv_bytes.after_event);
    EXPECT_LT(answers[3].figures.kv_bytes.after_event, answers[2].figures.kv_bytes.after_event);
    if (share < 1.0) continue;
    EXPECT_GT(scores[1].agreement.mean_kl, 0.0) << "it was rounded";
    EXPECT_LT(scores[1].agreement.mean_kl, 1e-4);
    EXPECT_EQ(scores[1].agreement.top1, 1.0);
    EXPECT_GT(scores[2].agreement.mean_kl, scores[1].agreement.mean_kl);
    EXPECT_LT(scores[2].agreement.mean_kl, 0.001);
    EXPECT_GE(scores[2].agreement.top1, 0.95);
    EXPECT_GT(scores[3].agreement.mean_kl, scores[2].agreement.mean_kl);
    EXPECT_LT(scores[3].agreement.mean_kl, 0.01);
    EXPECT_GE(scores[3].agreement.top1, 0.95);
  }
}

TEST_F(RealModel, ADocumentIsPreparedOnceAndAskedTwice) {
  const auto question = [](const char* text) { return ask({notes(), TextItem{text}}, "kvzip", 0.6, 12); };
  const EventRecorder events = run(Prepare{question("")});
  ASSERT_TRUE(events.last<Prepared>()) << events.last<Failed>()->error.reason;
  EXPECT_TRUE(events.last<Prepared>()->compressed);
  const auto slots = [](const EventRecorder& turn) { return finished(turn).figures.kv_bytes.after_event; };
  const EventRecorder boat = run(question("Who does the blue boat belong to?"));
  const EventRecorder gate = run(question("What is the code of the north gate?"));
  EXPECT_NE(finished(boat).answer.find("Anna"), std::string::npos) << finished(boat).answer;
  EXPECT_NE(finished(gate).answer.find("4817"), std::string::npos) << finished(gate).answer;
  EXPECT_LT(slots(boat), finished(boat).figures.kv_bytes.full);
  EXPECT_TRUE(boat.all<Progress>().empty() || boat.all<Progress>().front().phase == Phase::kPrefill);
}

// A loaded model's file was overwritten (`cp new.gguf model.gguf`), shortened or its network drive went: SIGBUS ended the program, or words
// of two models became one answer.
TEST_F(RealModel, WhoseFileIsChangedWhileItAnswersSaysSoAndIsLoadedAgain) {
  const auto cut = [](const std::string& file) { std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2); };
  const auto overwrite = [](const std::string& file) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(std::filesystem::file_size(file) / 2));
    bytes << "other weights";
  };
  for (const auto& change : {std::function<void(const std::string&)>(cut), std::function<void(const std::string&)>(overwrite)}) {
    const test::ScratchFolder folder;
    const std::string file = folder.file("model.gguf");
    std::filesystem::copy_file(test_support::real_model(), file);
    const std::unique_ptr<Engine> own = make_engine(nullptr);
    const auto post = [&](const RequestBody& body, const std::function<void(const Event&)>& hook = {}) {
      EventRecorder events;
      events.hook = hook;
      own->handle({1, body}, events, InterruptToken());
      return events;
    };
    LoadModel load{.folder = file};
    ASSERT_TRUE(post(load).last<ModelLoaded>());
    const Turn turn = ask({TextItem{kJapan}}, "full", 1.0, 64);
    int words = 0;
    const EventRecorder events = post(turn, [&](const Event& event) {
      if (std::holds_alternative<TextDelta>(event.body) && ++words == 2) change(file);
    });
    ASSERT_TRUE(events.last<Failed>()) << events.streamed();
    EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kModelFileChanged) << events.last<Failed>()->error.reason;
    EXPECT_EQ(events.last<Failed>()->error.subject, file);
    EXPECT_EQ(events.all<TextDelta>().size(), 2U) << "no word is made of changed weights";
    EXPECT_EQ(post(turn).last<Failed>()->error.code, ErrorCode::kModelFileChanged);
    EXPECT_EQ(post(SaveConversation{turn.conversation, folder.file("kept"), {}}).last<Failed>()->error.code, ErrorCode::kModelFileChanged);
    EXPECT_FALSE(std::filesystem::exists(folder.file("kept")));

    load.folder = test_support::real_model();
    ASSERT_TRUE(post(load).last<ModelLoaded>());
    EXPECT_NE(post(turn).streamed().find("Tokyo"), std::string::npos);
  }
}

}  // namespace
}  // namespace winnow::testing
