// Caches in eight bits of a model with large key biases, as Qwen2 has them: they cost what they cost without, and are kept on disk as they
// are.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/engine/generation/tiny_model.h"
#include "tests/engine/models/folder_copy.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

constexpr float kBias = 300.0F;

class KeyBiases : public TinyModel {
 protected:
  void SetUp() override {
    TinyModel::SetUp();
    skip_unless_legal(in_eight_bits(ask("video", "full", 1.0)).recipe);
  }
  static Turn in_eight_bits(Turn turn) {
    turn.recipe.kv_bits = 8;
    return turn;
  }
  // The pair of every kv head that turns least, in both layers.
  void put_into_keys(float bias) {
    const test_support::FolderCopy folder("gqa_tied");
    const std::int64_t half = info_.head_dim / 2;
    int changed = 0;
    folder.rewrite_weights([&](auto& tensors) {
      for (auto& [name, tensor] : tensors) {
        if (!name.starts_with("language_model.") || !name.ends_with("self_attn.k_proj.bias")) continue;
        at::Tensor heads = tensor.view({info_.kv_heads, info_.head_dim});
        heads.select(1, half - 1).fill_(bias);
        heads.select(1, 2 * half - 1).fill_(-bias);
        ++changed;
      }
    });
    ASSERT_EQ(changed, 2);
    LoadModel load;
    load.folder = folder.source().package->path();
    load.format = WeightFormat::kFp32;
    const EventRecorder events = run(load);
    ASSERT_TRUE(events.last<ModelLoaded>()) << events.last<Failed>()->error.reason;
  }

  // Of an answer in eight bits against the full cache, nats a token.
  double mean_kl(const std::string& method, double share) {
    const Turn turn = in_eight_bits(ask("video", method, share, 40));
    const EventRecorder events = run(compare_of(turn, {turn.recipe}));
    EXPECT_TRUE(events.last<Compared>()) << events.last<Failed>()->error.reason;
    return events.last<Scored>().value_or(Scored{}).agreement.mean_kl.value_or(0.0);
  }
};

// One scale for a row and its bias would round the rest of it a hundred times as coarsely.
TEST_F(KeyBiases, CostWhatEightBitsCostWithoutThem) {
  put_into_keys(0.0F);
  const double without = mean_kl("full", 1.0);
  EXPECT_GT(without, 0.0);
  put_into_keys(kBias);
  EXPECT_LT(mean_kl("full", 1.0), 1.5 * without);
}

TEST_F(KeyBiases, EveryMethodAnswersFromThem) {
  put_into_keys(kBias);
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    const Turn turn = in_eight_bits(ask("video", method.name, method.name == "full" ? 1.0 : 0.3, 8));
    if (recipe_problem(turn.recipe, info_.traits)) continue;
    run(ForgetConversation{7});
    const Finished answered = finished(run(turn));
    EXPECT_EQ(finished(run(follow_up(turn, answered.answer, "And now?"))).figures.tokens.visual, 0);
  }
}

TEST_F(KeyBiases, AreKeptOnDiskWithTheirPositions) {
  put_into_keys(kBias);
  const fs::path folder = fs::temp_directory_path() / ("winnow-key-bias-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const auto save = [&](const char* name) {
    const std::string path = (folder / name).string();
    const EventRecorder events = run(SaveConversation{7, path, "this model", std::numeric_limits<std::int64_t>::max()});
    EXPECT_GT(events.last<Saved>()->kv_bytes, 0);
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const Turn first = in_eight_bits(ask("video", "snapkv", 0.3, 12));
  const Finished answered = finished(run(first));
  const Turn second = follow_up(first, answered.answer, "How many squares are there?");
  const std::string written = save("first");
  EXPECT_NE(written.find("layer.0.key_positions"), std::string::npos);
  const EventRecorder at_once = run(second);
  run(ForgetConversation{7});
  const EventRecorder restored = run(LoadConversation{7, (folder / "first").string(), "this model"});
  ASSERT_TRUE(restored.last<Restored>()) << restored.last<Failed>()->error.reason;
  EXPECT_EQ(save("again"), written);
  const EventRecorder later = run(second);
  EXPECT_EQ(finished(later).answer, finished(at_once).answer);
  EXPECT_EQ(later.last<CacheReport>()->kept, at_once.last<CacheReport>()->kept);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace winnow::testing
