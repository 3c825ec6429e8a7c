// A token chosen where its logits lie is the one that the host would have chosen, and its number is all that comes back.
#include "engine/generation/conversation/token_choice.h"

#include <limits>
#include <vector>

#include "tests/engine/emulated_gpu/emulated_device.h"
#include "tests/support/expect_error.h"

namespace winnow::testing {
namespace {

class ChoiceOnEmulatedGpu : public OnEmulatedGpu {
 protected:
  c10::InferenceMode inference_;
};

constexpr std::int64_t kVocabulary = 200;

std::vector<Sampling> every_setting() {
  std::vector<Sampling> all;
  for (const double temperature : {0.0, 0.01, 1.0, 30.0}) {
    for (const int top_k : {0, 1, 7, 500}) {
      for (const double top_p : {0.0, 0.3, 0.95, 1.0}) {
        for (const double min_p : {0.0, 0.2}) {
          for (const double penalty : {1.0, 1.3, 0.7}) {
            Sampling settings;
            settings.temperature = temperature;
            settings.top_k = top_k;
            settings.top_p = top_p;
            settings.min_p = min_p;
            settings.repetition_penalty = penalty;
            settings.seed = all.size();
            all.push_back(settings);
          }
        }
      }
    }
  }
  return all;
}

TEST_F(ChoiceOnEmulatedGpu, IsTheHostsForEverySetting) {
  for (const Sampling& settings : every_setting()) {
    TokenChoice host(settings, 3);
    TokenChoice device(settings, 3);
    std::vector<std::int64_t> seen = {5, 5, -1, kVocabulary, 17};
    for (int draw = 0; draw < 5; ++draw) {
      at::Tensor logits = at::randn({kVocabulary}) * 3.0;
      logits.narrow(0, 40, 30).fill_(-std::numeric_limits<float>::infinity());
      logits.narrow(0, 90, 8).fill_(logits.max().item<float>() - 0.5F);  // ties
      const std::int64_t expected = host.choose(logits, seen);
      ASSERT_EQ(device.choose(logits.to(kEmulatedGpu), seen), expected)
          << "temperature " << settings.temperature << " top_k " << settings.top_k << " top_p " << settings.top_p << " min_p "
          << settings.min_p << " penalty " << settings.repetition_penalty << " draw " << draw;
      seen.push_back(expected);
    }
  }
}

TEST_F(ChoiceOnEmulatedGpu, TakesTheSmallerIdOfEqualOnes) {
  const at::Tensor logits = at::zeros({kVocabulary}).index_fill_(0, at::tensor({7, 9, 150}, at::kLong), 2.0);
  EXPECT_EQ(TokenChoice(Sampling{}).choose(logits.to(kEmulatedGpu), {}), 7);
}

TEST_F(ChoiceOnEmulatedGpu, BringsBackOneNumberAfterOneWait) {
  Sampling settings{.temperature = 0.8, .top_k = 20, .top_p = 0.9, .min_p = 0.05, .repetition_penalty = 1.1};
  TokenChoice choice(settings);
  const at::Tensor logits = at::randn({kVocabulary}).to(kEmulatedGpu);
  std::vector<std::int64_t> seen = {1, 2, 3};
  for (int draw = 0; draw < 4; ++draw) {
    const EmulatedGpuCounts cost = cost_of([&] { seen.push_back(choice.choose(logits, seen)); });
    EXPECT_EQ(cost.waits, 1);
    EXPECT_EQ(cost.launches, draw == 0 ? 4 : 3) << "the first one clears what is seen";
    EXPECT_EQ(cost.bytes_to_host, 8);
    EXPECT_LE(cost.bytes_to_device, draw == 0 ? 24 : 8) << "the ids that are new";
  }
}

TEST_F(ChoiceOnEmulatedGpu, RefusesLogitsThatAreNotNumbers) {
  for (const double temperature : {0.0, 0.7}) {
    Sampling settings{.temperature = temperature};
    const auto refused = [&](at::Tensor logits, const char* why) {
      test::expect_error(ErrorCode::kNumericFailure, why, [&] { TokenChoice(settings).choose(logits.to(kEmulatedGpu), {}); });
    };
    const auto with = [](double value) { return at::randn({kVocabulary}).index_fill_(0, at::tensor({3}, at::kLong), value); };
    refused(with(std::numeric_limits<double>::quiet_NaN()), "not a number");
    refused(with(std::numeric_limits<double>::infinity()), "not a number");
    refused(at::full({kVocabulary}, -std::numeric_limits<double>::infinity()), "excludes every token");
  }
}

}  // namespace
}  // namespace winnow::testing
