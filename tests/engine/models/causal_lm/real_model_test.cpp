// A real model from its GGUF file against transformers: ids, logits and greedy tokens, in fp32, of weights as numbers and of weights that
// stay in their blocks (tests/golden/make/make_real_model_golden.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/model_files/gguf_model.h"
#include "engine/models/registry.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/plain_processor.h"
#include "tests/support/real_model.h"
#include "tests/support/source_folder.h"

namespace winnow::causal_lm_test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;

struct Tolerance {
  double logits = 0.0;  // of the largest
  double close = 0.0;   // two tokens whose logits are nearer than this may change places
};
constexpr Tolerance kExact = {1e-4, 1e-3};
// Rows of input are rounded to eight bits before a block is multiplied.
constexpr Tolerance kRounded = {5e-3, 0.3};
constexpr std::size_t kTokenByToken = 3;  // chats that are also written one token at a time

class RealModel : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string file = test_support::real_model();
    if (file.empty()) return;
    package = std::make_shared<GgufModel>(file);
    std::ifstream stream(source_folder() + "/tests/golden/real_model/golden.json");
    golden = json::parse(stream);
  }
  static void TearDownTestSuite() {
    package.reset();
    golden = {};
  }
  void SetUp() override {
    if (package == nullptr) GTEST_SKIP() << test_support::kNoRealModel;
  }

  static std::unique_ptr<VisionLanguageModel> load(bool matrices_as_stored) {
    ModelSource source{.package = package, .plan = {.matrices_as_stored = matrices_as_stored}};
    return load_model(source);
  }

  static inline std::shared_ptr<const GgufModel> package;
  static inline json golden;
  c10::InferenceMode inference_;
};

void expect_top(const at::Tensor& logits, Tolerance tolerance, const json& chat) {
  const Ids top = chat["top"].get<Ids>();
  const auto wanted = chat["logits"].get<std::vector<double>>();
  for (std::size_t i = 0; i < top.size(); ++i)
    EXPECT_NEAR(logits[top[i]].item<double>(), wanted[i], tolerance.logits * std::abs(wanted.front())) << chat["thread"];
}

// Whether the token is the best, or so close to it that rounding decides; counted in `close`.
void expect_best(const at::Tensor& logits, std::int64_t token, Tolerance tolerance, int& close, const json& chat) {
  const double ahead = (logits.max() - logits[token]).item<double>();
  EXPECT_LT(ahead, tolerance.close) << chat["thread"];
  close += ahead > 0.0 ? 1 : 0;
}

TEST_F(RealModel, StringsHaveTheIdsOfTransformers) {
  const std::unique_ptr<Tokenizer> tokenizer = Tokenizer::from(package->tokenizer());
  ASSERT_EQ(golden["strings"].size(), 300U);
  for (const json& entry : golden["strings"]) {
    const std::string text = entry["text"];
    const Ids ids = tokenizer->encode(text, SpecialText::kAsText);
    EXPECT_EQ(ids, entry["ids"].get<Ids>()) << text;
    EXPECT_EQ(tokenizer->decode(ids, SpecialTokens::kKeep), text);
  }
}

// A prompt and its 64 tokens are read at once; a token is what transformers wrote if every row's best is the next one.
TEST_F(RealModel, LogitsAndGreedyTokensAreThoseOfTransformers) {
  const std::unique_ptr<VisionLanguageModel> model = load(false);
  const TextDecoder& text = model->text();
  int tokens = 0;
  int close = 0;
  for (const json& chat : golden["chats"]) {
    Ids ids = chat["ids"].get<Ids>();
    const Ids greedy = chat["greedy"].get<Ids>();
    const std::int64_t last = std::ssize(ids) - 1;
    ids.insert(ids.end(), greedy.begin(), greedy.end() - 1);
    KvCache cache(text.kv_shape());
    const at::Tensor hidden = test_support::prefill(text, text.embed(at::tensor(ids, at::kLong)), 0, cache);
    const at::Tensor logits = text.logits(hidden.narrow(0, last, std::ssize(greedy)));
    expect_top(logits[0], kExact, chat);
    for (std::int64_t i = 0; i < std::ssize(greedy); ++i) expect_best(logits[i], greedy[static_cast<std::size_t>(i)], kExact, close, chat);
    tokens += static_cast<int>(greedy.size());
  }
  EXPECT_GE(tokens, 22 * 64);
  EXPECT_LE(close, tokens / 100) << "so many tokens were a matter of rounding";
}

// The prompt's rows are not rounded, so that the tokens' are all that is.
TEST_F(RealModel, WeightsInTheirBlocksWriteTheSameTokensOneByOne) {
  const std::unique_ptr<VisionLanguageModel> model = test_support::on_a_plain_processor([] { return load(true); });
  EXPECT_LT(model->info().weight_bytes, 100'000'000) << "the file has 98 MB";
  const TextDecoder& text = model->text();
  int tokens = 0;
  int close = 0;
  for (std::size_t number = 0; number < kTokenByToken; ++number) {
    const json& chat = golden["chats"][number];
    const Ids ids = chat["ids"].get<Ids>();
    KvCache cache(text.kv_shape());
    const at::Tensor hidden = test_support::prefill(text, text.embed(at::tensor(ids, at::kLong)), 0, cache);
    at::Tensor logits = text.logits(hidden.narrow(0, std::ssize(ids) - 1, 1))[0];
    expect_top(logits, kRounded, chat);
    std::int64_t position = std::ssize(ids);
    for (const std::int64_t token : chat["greedy"].get<Ids>()) {
      expect_best(logits, token, kRounded, close, chat);
      ++tokens;
      logits = text.decode({token, position, static_cast<std::int32_t>(position)}, cache, nullptr);
      ++position;
    }
  }
  EXPECT_LE(close, tokens / 20) << "so many tokens were a matter of rounding";
}

}  // namespace
}  // namespace winnow::causal_lm_test
