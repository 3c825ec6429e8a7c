// Caches in eight bits (RecipeSpec::kv_bits) on tiny random models: every method works on them, counts them exactly and goes on from them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "engine/messages/stored_bytes.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

Turn in_eight_bits(Turn turn) {
  turn.recipe.kv_bits = 8;
  return turn;
}

std::int64_t bytes_of(const std::vector<LayerFigures>& layers, const ModelInfo& model) {
  std::int64_t slots = 0;
  for (const LayerFigures& layer : layers) {
    for (const std::int64_t kept : layer.kept_per_head) slots += kept;
  }
  return slots * 2 * (model.head_dim + 4);
}

using NarrowCaches = EveryFamily;

TEST_P(NarrowCaches, EveryMethodAnswersFromExactlyTheBytesThatWerePlanned) {
  for (const MethodInfo& method : legal_methods()) {
    SCOPED_TRACE(method.name);
    run(ForgetConversation{7});
    const std::string media = info_.traits.reads_videos ? "video" : "image";
    const Turn first = in_eight_bits(ask(media, method.name, method.name == "full" ? 1.0 : 0.3, 6));
    if (recipe_problem(first.recipe, info_.traits)) continue;
    const EventRecorder said = run(Plan{first});
    ASSERT_TRUE(said.last<Planned>()) << said.last<Failed>()->error.reason;
    const EventRecorder events = run(first);
    const Finished answered = finished(events);
    const CacheReport report = events.last<CacheReport>().value();
    EXPECT_EQ(report.kv_bytes.full, said.last<Planned>()->kv_bytes_full);
    if (info_.traits.window == 0) {  // what a window passes by while a question is read is not foreseen to the slot
      EXPECT_EQ(report.kv_bytes.after_event, said.last<Planned>()->kv_bytes_after_event);
      EXPECT_EQ(report.kv_bytes.peak, said.last<Planned>()->peak_bytes);
    }
    EXPECT_EQ(report.kv_bytes.after_event, bytes_of(report.layers, info_));
    EXPECT_EQ(said.last<Planned>()->kv_bytes_per_token, info_.layers * info_.kv_heads * 2 * (info_.head_dim + 4));
    EXPECT_EQ(said.last<Planned>()->kv_bytes_per_token, stored_token_bytes(info_, first.recipe));
    const EventRecorder later = run(follow_up(first, answered.answer, "And now?"));
    EXPECT_EQ(finished(later).figures.tokens.visual, 0) << "it goes on from what is there";
  }
}

INSTANTIATE_TEST_SUITE_P(Families, NarrowCaches, ::testing::Values("gqa_tied", "gemma3/published"), family_name);

class NarrowCache : public TinyModel {
 protected:
  // One column in the model's type, one in eight bits.
  EventRecorder compare(const Turn& turn, const Turn& narrow) {
    Compare request;
    request.conversation = turn.conversation;
    request.messages = turn.messages;
    request.sampling = turn.sampling;
    request.recipes = {turn.recipe, narrow.recipe};
    request.scores = ColumnScores::kAll;
    return run(request);
  }
};

TEST_F(NarrowCache, KeepingEverythingIsTheFullCacheInEightBits) {
  const EventRecorder full = run(in_eight_bits(ask("video", "full", 1.0, 20)));
  for (const char* method : {"snapkv", "self-study", "h2o", "ems"}) {
    run(ForgetConversation{7});
    EXPECT_EQ(finished(run(in_eight_bits(ask("video", method, 1.0, 20)))).answer, finished(full).answer) << method;
  }
}

TEST_F(NarrowCache, AComparisonJudgesItAgainstTheWideCache) {
  for (const char* method : {"full", "snapkv", "self-study"}) {
    SCOPED_TRACE(method);
    const Turn wide = ask("video", method, std::string(method) == "full" ? 1.0 : 0.4, 12);
    const Turn narrow = in_eight_bits(wide);
    const EventRecorder events = compare(wide, narrow);
    ASSERT_TRUE(events.last<Compared>()) << events.last<Failed>()->error.reason;
    std::vector<Finished> answers = events.all<Finished>();
    std::vector<Scored> scores = events.all<Scored>();
    ASSERT_EQ(answers.size(), 2U);
    ASSERT_EQ(scores.size(), 2U);
    EXPECT_EQ(answers[1].figures.kv_bytes.after_event * info_.head_dim * 4, answers[0].figures.kv_bytes.after_event * (info_.head_dim + 4));
    run(ForgetConversation{7});
    EXPECT_EQ(finished(run(narrow)).answer, answers[1].answer) << "as the turn alone";
    if (std::string(method) != "full") continue;
    EXPECT_EQ(scores[0].agreement.mean_kl, 0.0);
    EXPECT_GT(scores[1].agreement.mean_kl, 0.0) << "it was rounded";
    EXPECT_LT(scores[1].agreement.mean_kl, 1e-3);
  }
}

TEST_F(NarrowCache, AnotherStorageIsReadAnew) {
  const Turn first = ask("video", "snapkv", 0.4, 8);
  const Finished answered = finished(run(first));
  const Turn second = follow_up(first, answered.answer, "How many squares are there?");
  const EventRecorder narrow = run(in_eight_bits(second));
  EXPECT_GT(finished(narrow).figures.tokens.prompt, answered.figures.tokens.prompt) << "the whole thread";
  EXPECT_EQ(narrow.last<CacheReport>()->kv_bytes.after_event, bytes_of(narrow.last<CacheReport>()->layers, info_));
  const EventRecorder third = run(in_eight_bits(follow_up(second, finished(narrow).answer, "And circles?")));
  EXPECT_LT(finished(third).figures.tokens.prompt, answered.figures.tokens.prompt) << "stored alike, it goes on";
}

TEST_F(NarrowCache, IsKeptOnDiskBitForBit) {
  const fs::path folder = fs::temp_directory_path() / ("winnow-narrow-cache-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const auto save = [&](const char* name) {
    const std::string path = (folder / name).string();
    const EventRecorder events = run(SaveConversation{7, path, "this model", std::numeric_limits<std::int64_t>::max()});
    EXPECT_GT(events.last<Saved>()->kv_bytes, 0);
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  for (const char* method : {"self-study", "snapkv"}) {
    SCOPED_TRACE(method);
    const Turn first = in_eight_bits(ask("video", method, 0.3, 12));
    const Finished answered = finished(run(first));
    const Turn second = follow_up(first, answered.answer, "How many squares are there?");
    const std::string written = save("first");
    const EventRecorder at_once = run(second);
    engine_ = make_engine(&opener_);
    TinyModel::SetUp();
    const EventRecorder restored = run(LoadConversation{7, (folder / "first").string(), "this model"});
    ASSERT_TRUE(restored.last<Restored>()) << restored.last<Failed>()->error.reason;
    EXPECT_EQ(save("again"), written);
    // In the model's type the same question would need other rows.
    Turn wide = second;
    wide.recipe.kv_bits = 0;
    EXPECT_GT(run(Plan{wide}).last<Planned>()->tokens.prompt, run(Plan{second}).last<Planned>()->tokens.prompt);
    const EventRecorder later = run(second);
    EXPECT_EQ(finished(later).answer, finished(at_once).answer);
    EXPECT_EQ(later.last<CacheReport>()->kept, at_once.last<CacheReport>()->kept);
    run(ForgetConversation{7});
  }
  // A file whose rows are of the other type is not believed, whatever it says of itself.
  finished(run(in_eight_bits(ask("video", "snapkv", 0.3, 4))));
  std::string bytes = save("first");
  const std::string says = "\"kv_int8\":true";
  ASSERT_NE(bytes.find(says), std::string::npos);
  bytes.replace(bytes.find(says), says.size(), "\"kv_int8\":false");
  const std::string hashes = "\"media_hashes\":[\"";
  bytes.erase(bytes.find(hashes) + hashes.size(), 1);  // as long as before
  std::ofstream(folder / "other", std::ios::binary) << bytes;
  const EventRecorder refused = run(LoadConversation{7, (folder / "other").string(), "this model"});
  ASSERT_TRUE(refused.last<Failed>());
  EXPECT_EQ(refused.last<Failed>()->error.code, ErrorCode::kDamagedFile);
  EXPECT_TRUE(refused.last<Failed>()->error.subject.ends_with("current.layer.0.keys")) << refused.last<Failed>()->error.subject;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace winnow::testing
