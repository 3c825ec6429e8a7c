// What generation_config.json recommends, as transformers' generate() would take it, and which of it is refused.
#include "engine/models/generation_defaults.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/model_files/hugging_face_folder.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

class RecommendedSampling : public ::testing::Test {
 protected:
  SamplingChoice read(const std::string& text) {
    folder_.write("generation_config.json", text);
    return read_recommended_sampling(HuggingFaceFolder(folder_.path()));
  }
  const test::ScratchFolder folder_;
};

TEST_F(RecommendedSampling, IsNothingWhereTheFileSaysNothing) {
  EXPECT_TRUE(read_recommended_sampling(HuggingFaceFolder(folder_.path())).empty());
  EXPECT_TRUE(read(R"({"eos_token_id": 7, "max_new_tokens": 20, "temperature": null, "do_sample": null})").empty());
}

TEST_F(RecommendedSampling, IsWhatTheFileNames) {
  SamplingChoice expected;
  expected.temperature = 0.7;
  expected.top_k = 20;
  expected.top_p = 0.8;
  expected.repetition_penalty = 1.1;
  EXPECT_EQ(read(R"({"do_sample": true, "temperature": 0.7, "top_k": 20, "top_p": 0.8, "repetition_penalty": 1.1})"), expected);
  expected = {};
  expected.temperature = 1.0;
  expected.min_p = 0.05;
  EXPECT_EQ(read(R"({"do_sample": true, "min_p": 0.05})"), expected) << "generate() draws at temperature 1 unless told otherwise";
}

// generate() takes the best token unless do_sample is set, whatever else stands in the file.
TEST_F(RecommendedSampling, IsGreedyWithoutDoSample) {
  SamplingChoice expected;
  expected.temperature = 0.0;
  EXPECT_EQ(read(R"({"do_sample": false})"), expected);
  EXPECT_EQ(read(R"({"do_sample": false, "temperature": 0.7})"), expected);
  EXPECT_EQ(read(R"({"temperature": 0.7})"), expected);
  expected.repetition_penalty = 1.05;
  EXPECT_EQ(read(R"({"repetition_penalty": 1.05})"), expected);
}

TEST_F(RecommendedSampling, RefusesWhatIsNoSuchNumber) {
  const auto refuse = [&](const std::string& text, const char* key, ErrorCode code) {
    test::expect_error(code, key, [&] { read("{" + text + "}"); });
  };
  refuse(R"("temperature": -0.1)", "temperature", ErrorCode::kDamagedFile);
  refuse(R"("temperature": 101)", "temperature", ErrorCode::kLimitExceeded);
  refuse(R"("temperature": "0.7")", "temperature", ErrorCode::kDamagedFile);
  refuse(R"("top_k": -1)", "top_k", ErrorCode::kDamagedFile);
  refuse(R"("top_k": 1.5)", "top_k", ErrorCode::kDamagedFile);
  refuse(R"("top_k": 9999999999)", "top_k", ErrorCode::kLimitExceeded);
  refuse(R"("top_p": 1.01)", "top_p", ErrorCode::kLimitExceeded);
  refuse(R"("min_p": -1)", "min_p", ErrorCode::kDamagedFile);
  refuse(R"("repetition_penalty": 0)", "repetition_penalty", ErrorCode::kDamagedFile);
  refuse(R"("repetition_penalty": 1e7)", "repetition_penalty", ErrorCode::kLimitExceeded);
  refuse(R"("do_sample": "yes")", "do_sample", ErrorCode::kDamagedFile);
}

}  // namespace
}  // namespace winnow
