// Caches in four, eight and sixteen bits (RecipeSpec::kv_bits) on tiny random models computed in 32: every method works on them, counts
// them exactly and goes on from them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "engine/messages/stored_bytes.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/engine/models/folder_copy.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

Turn stored_in(int bits, Turn turn) {
  turn.recipe.kv_bits = bits;
  return turn;
}

std::int64_t row_bytes(int bits, const ModelInfo& model) {
  if (bits == 8) return model.head_dim + 4;
  return model.head_dim * bits / 8 + (bits == 4 ? (model.head_dim + 31) / 32 * 2 : 0);
}

std::int64_t bytes_of(const std::vector<LayerFigures>& layers, const ModelInfo& model, int bits) {
  std::int64_t slots = 0;
  for (const LayerFigures& layer : layers) {
    for (const std::int64_t kept : layer.kept_per_head) slots += kept;
  }
  return slots * 2 * row_bytes(bits, model);
}

class NarrowCaches : public EveryFamily {
 protected:
  void SetUp() override {
    EveryFamily::SetUp();
    skip_unless_legal(stored_in(8, ask("text", "full", 1.0)).recipe);
  }
  void every_method_answers_from_exactly_the_bytes_that_were_planned(int bits);
};

void NarrowCaches::every_method_answers_from_exactly_the_bytes_that_were_planned(int bits) {
  for (const MethodInfo& method : legal_methods()) {
    SCOPED_TRACE(method.name);
    run(ForgetConversation{7});
    const std::string video = golden_.cases().contains("video") ? "video" : "even_video";
    const std::string media = info_.traits.reads_videos ? video : "image";
    const Turn first = stored_in(bits, ask(media, method.name, method.name == "full" ? 1.0 : 0.3, 6));
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
    EXPECT_EQ(report.kv_bytes.after_event, bytes_of(report.layers, info_, bits));
    EXPECT_EQ(said.last<Planned>()->kv_bytes_per_token, info_.layers * info_.kv_heads * 2 * row_bytes(bits, info_));
    EXPECT_EQ(said.last<Planned>()->kv_bytes_per_token, stored_token_bytes(info_, first.recipe));
    const EventRecorder later = run(follow_up(first, answered.answer, "And now?"));
    EXPECT_EQ(finished(later).figures.tokens.visual, 0) << "it goes on from what is there";
  }
}

TEST_P(NarrowCaches, OfFourBits) { every_method_answers_from_exactly_the_bytes_that_were_planned(4); }
TEST_P(NarrowCaches, OfEightBits) { every_method_answers_from_exactly_the_bytes_that_were_planned(8); }
INSTANTIATE_TEST_SUITE_P(Families, NarrowCaches, ::testing::Values("gqa_tied", "gemma3/published", "gemma4_large/dense"), folder_info_name);

using HalfCaches = NarrowCaches;
TEST_P(HalfCaches, OfSixteenBits) { every_method_answers_from_exactly_the_bytes_that_were_planned(16); }
INSTANTIATE_TEST_SUITE_P(Families, HalfCaches, ::testing::Values("gqa_tied", "qwen2_5_vl/saved", "gemma3/published", "gemma4_large/dense"),
                         folder_info_name);

class NarrowCache : public TinyModel, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    TinyModel::SetUp();
    skip_unless_legal(narrow(ask("video", "full", 1.0)).recipe);
  }
  static int bits() { return GetParam(); }
  static Turn narrow(const Turn& turn) { return stored_in(bits(), turn); }
  // One column in the model's type, one in fewer bits.
  EventRecorder compare(const Turn& turn, const Turn& rounded) { return run(compare_of(turn, {turn.recipe, rounded.recipe})); }
};

TEST_P(NarrowCache, KeepingEverythingIsTheFullCacheInSoManyBits) {
  const EventRecorder full = run(narrow(ask("video", "full", 1.0, 20)));
  for (const char* method : {"snapkv", "self-study", "h2o", "ems"}) {
    run(ForgetConversation{7});
    EXPECT_EQ(finished(run(narrow(ask("video", method, 1.0, 20)))).answer, finished(full).answer) << method;
  }
}

TEST_P(NarrowCache, AComparisonJudgesItAgainstTheWideCache) {
  for (const char* method : {"full", "snapkv", "self-study"}) {
    SCOPED_TRACE(method);
    const Turn wide = ask("video", method, std::string(method) == "full" ? 1.0 : 0.4, 12);
    const Turn rounded = narrow(wide);
    const EventRecorder events = compare(wide, rounded);
    ASSERT_TRUE(events.last<Compared>()) << events.last<Failed>()->error.reason;
    std::vector<Finished> answers = events.all<Finished>();
    std::vector<Scored> scores = events.all<Scored>();
    ASSERT_EQ(answers.size(), 2U);
    ASSERT_EQ(scores.size(), 2U);
    EXPECT_EQ(answers[1].figures.kv_bytes.after_event * info_.head_dim * 4,
              answers[0].figures.kv_bytes.after_event * row_bytes(bits(), info_));
    run(ForgetConversation{7});
    EXPECT_EQ(finished(run(rounded)).answer, answers[1].answer) << "as the turn alone";
    if (std::string(method) != "full") continue;
    EXPECT_EQ(scores[0].agreement.mean_kl, 0.0);
    EXPECT_GT(scores[1].agreement.mean_kl, 0.0) << "it was rounded";
    EXPECT_LT(scores[1].agreement.mean_kl, bits() == 4 ? 2e-2 : bits() == 8 ? 1e-3 : 1e-6);
  }
}

TEST_P(NarrowCache, IsKeptOnDiskBitForBit) {
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
    const Turn first = narrow(ask("video", method, 0.3, 12));
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
  finished(run(narrow(ask("video", "snapkv", 0.3, 4))));
  std::string bytes = save("first");
  const std::string says = "\"kv_storage\":";
  const std::size_t at = bytes.find(says) + says.size();
  ASSERT_NE(bytes.find(says), std::string::npos);
  const std::string storages = "1234";
  ASSERT_NE(storages.find(bytes[at]), std::string::npos);
  for (const char other : storages) {
    if (bytes[at] == other) continue;
    std::string changed = bytes;
    changed[at] = other;
    std::ofstream(folder / "other", std::ios::binary) << changed;
    const EventRecorder refused = run(LoadConversation{7, (folder / "other").string(), "this model"});
    ASSERT_TRUE(refused.last<Failed>());
    EXPECT_EQ(refused.last<Failed>()->error.code, ErrorCode::kDamagedFile);
    EXPECT_TRUE(refused.last<Failed>()->error.subject.ends_with("current.layer.0.keys")) << refused.last<Failed>()->error.subject;
  }
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Bits, NarrowCache, ::testing::Values(4, 8, 16));

// A model in bf16, asked for as the ordinary user does.
class OwnCache : public TinyModel {
 protected:
  ModelInfo load(const std::string& folder, WeightFormat format) {
    LoadModel load;
    load.folder = folder;
    load.format = format;
    const EventRecorder events = run(load);
    return events.last<ModelLoaded>().value().info;
  }
  std::int64_t bytes_per_token(const Turn& turn) { return run(Plan{turn}).last<Planned>()->kv_bytes_per_token; }
};

TEST_F(OwnCache, OfAModelInSixteenBitsIsInSixteenWhateverTheProcessorComputes) {
  const test_support::FolderCopy halved("gqa_tied");
  halved.rewrite_weights([](auto& tensors) {
    for (auto& [name, tensor] : tensors) tensor = tensor.to(at::kBFloat16);
  });
  const std::string folder = halved.source().package->path();
  const std::int64_t numbers = info_.layers * info_.kv_heads * 2 * info_.head_dim;
  for (const WeightFormat format : {WeightFormat::kAuto, WeightFormat::kBf16, WeightFormat::kInt8, WeightFormat::kInt4}) {
    const ModelInfo info = load(folder, format);
    SCOPED_TRACE(info.dtype);
    EXPECT_EQ(info.traits.kv_bits, 16);
    EXPECT_EQ(info.kv_bytes_per_token, numbers * 2);
    const Turn turn = ask("video", "snapkv", 0.4, 6);
    EXPECT_EQ(bytes_per_token(turn), numbers * 2);
    if (!on_gpu()) {  // where 16 bits are the fewest
      EXPECT_EQ(bytes_per_token(stored_in(8, turn)), info_.layers * info_.kv_heads * 2 * (info_.head_dim + 4));
    }
    EXPECT_EQ(bytes_per_token(stored_in(32, turn)), numbers * info.traits.arithmetic_bits / 8);
    EXPECT_EQ(stored_token_bytes(info, stored_in(32, turn).recipe), numbers * info.traits.arithmetic_bits / 8);
    const EventRecorder events = run(turn);
    const CacheReport report = events.last<CacheReport>().value();
    EXPECT_EQ(report.kv_bytes.after_event, bytes_of(report.layers, info, 16));
    // The same bits by another word: what is there is gone on from.
    const Turn second = follow_up(turn, finished(events).answer, "And now?");
    EXPECT_EQ(finished(run(stored_in(16, second))).figures.tokens.visual, 0);
    run(ForgetConversation{7});
  }
}

TEST_F(OwnCache, OfAModelInThirtyTwoBitsIsAsItComputes) {
  const test_support::FolderCopy folder("gqa_tied");
  folder.rewrite_weights([](auto& tensors) {
    for (auto& [name, tensor] : tensors) tensor = tensor.to(at::kFloat);
  });
  for (const WeightFormat format : {WeightFormat::kAuto, WeightFormat::kFp32}) {
    const ModelInfo info = load(folder.source().package->path(), format);
    EXPECT_EQ(info.traits.kv_bits, info.traits.arithmetic_bits) << info.dtype;
    if (format == WeightFormat::kFp32) {
      EXPECT_EQ(info.traits.kv_bits, 32);
    }
  }
}

}  // namespace
}  // namespace winnow::testing
