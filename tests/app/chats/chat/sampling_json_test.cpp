// What was chosen of sampling, written and read; what cannot be understood counts as not chosen.
#include "app/chats/chat/sampling_json.h"

#include <gtest/gtest.h>

#include <limits>

namespace winnow::app {
namespace {

TEST(SamplingJson, WhatWasChosenComesBackAndNothingElse) {
  EXPECT_EQ(samplingToJson({}), QByteArray());
  SamplingChoice choice;
  choice.temperature = 0.0;
  choice.top_k = 40;
  choice.top_p = 0.95;
  choice.min_p = 0.05;
  choice.repetition_penalty = 1.1;
  choice.seed = std::numeric_limits<std::uint64_t>::max();
  choice.max_new_tokens = 1;
  EXPECT_EQ(samplingFromJson(samplingToJson(choice)), choice);
  SamplingChoice one;
  one.seed = 3;
  EXPECT_EQ(samplingToJson(one), QByteArray(R"({"seed":3})"));
}

TEST(SamplingJson, EachValueCountsForItself) {
  SamplingChoice expected;
  expected.top_p = 1.0;
  expected.temperature = 1.0;  // whole numbers are numbers
  const QByteArray stored = R"({"temperature": 1, "top_p": 1.0, "top_k": 2.5, "min_p": -0.1, "repetition_penalty": 0, "seed": -1,
    "max_new_tokens": -1, "of_a_newer_version": true})";
  EXPECT_EQ(samplingFromJson(stored), expected);
  for (const char* bad : {"", "nonsense", "[]", "7", R"({"temperature": "hot"})", R"({"temperature": 1e999})", R"({"top_k": 99999999999})"})
    EXPECT_TRUE(samplingFromJson(bad).empty()) << bad;
}

}  // namespace
}  // namespace winnow::app
