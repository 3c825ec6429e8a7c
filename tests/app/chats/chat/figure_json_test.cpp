#include "app/chats/chat/figure_json.h"

#include <limits>

#include <gtest/gtest.h>

#include "app/chats/chat/run_json.h"

namespace winnow::app {
namespace {

// What chats hold since version 0.1: no name may be lost, whatever the figures are called in the program.
TEST(RunJson, TheNamesOfSavedFiguresStay) {
  const auto saved = nlohmann::json::parse(R"({
    "agreement": {"differences": [{"full_choice_probability": 0.5, "full_probability": 0.25, "full_text": "b", "probability": 0.75,
                                   "text": "a", "word": 1}],
                  "first_diverging_word": 1, "full_loss": 0.25, "loss": 0.5, "mean_kl": 0.5, "same": 3, "tokens": 4, "top1": 0.75},
    "device": "cpu", "method": "h2o", "model_folder": "/models/m", "model_name": "m", "retention": 0.25, "seed": 7,
    "figures": {"prompt_tokens": 1, "visual_tokens": 2, "text_tokens": 3, "generated_tokens": 4, "thread_visual_tokens": 5,
                "thread_text_tokens": 6, "unread_tokens": 3, "pinned_tokens": 7, "kv_bytes_full": 8, "kv_bytes_after_event": 9, "kv_bytes_end": 10,
                "kv_bytes_peak": 11, "kv_bytes_allocated": 12, "kv_bytes_metadata": 13, "kv_bytes_full_end": 14, "kv_bytes_states": 15, "media_ms": 1.5,
                "preprocess_ms": 2.5, "vision_ms": 3.5, "prefill_ms": 4.5, "statistics_ms": 5.5, "compress_ms": 6.5, "ttft_ms": 7.5,
                "decode_ms": 8.5, "waited_ms": 3.25, "thought_ms": 4.25, "thought_tokens": 2, "drafted_tokens": 1, "tokens_per_s": 9.5, "achieved_retention": 0.5, "notes": [1, 5], "stop_reason": 2, "begun_by": ["n"]},
    "makers": [{"attached": true,
                "recipe": {"format": "winnow-recipe", "version": 1, "name": "mine", "method": "h2o", "retention": 0.5, "turn_policy": "segment",
                           "min_event_tokens": 256, "seed": 0}}],
    "layers": [{"best_scores": [0.5, 0.25], "budget": 3, "bytes": 64, "end": [1.0, 2.0, 3.0, 0.5], "kept": 3.0, "kept_per_head": [3, 2],
                "kept_text": 1.0, "kept_visual": 2.0, "why": [["entropy", 0.5]]}],
    "recipe": {"format": "winnow-recipe", "version": 1, "name": "", "method": "h2o", "retention": 0.25, "turn_policy": "segment",
               "min_event_tokens": 256, "seed": 0}})");
  const QByteArray again = runToJson(runFromJson(QByteArray::fromStdString(saved.dump())));
  EXPECT_EQ(nlohmann::json::parse(again.toStdString()), saved) << again.toStdString();
}

TEST(RunJson, TheNamesOfSavedTimesStay) {
  const QByteArray saved = R"({"actual_s":[0.5,1.5],"asked_s":[0.25,1.25],"lines_digest":"ab","lines_s":[2.0],)"
                           R"("notices":[[44,3,0,""],[990,1,2,"film.srt"]],"tokens":7})";
  const SampledTimes times = sampledFromJson(saved);
  EXPECT_EQ(times.actualS, (std::vector<double>{0.5, 1.5}));
  ASSERT_EQ(times.notices.size(), 2U);
  EXPECT_EQ(times.notices[1], (MediaNotice{static_cast<NoticeCode>(990), 1, 2, "film.srt"})) << "of a later program";
  EXPECT_EQ(sampledToJson(times), saved);
  EXPECT_EQ(sampledToJson({}), "{}");
  EXPECT_EQ(sampledFromJson("no JSON"), SampledTimes());
  const SampledTimes known =
      sampledFromJson(R"({"notices":[[44,3,0],[44,"many",0,""],[44,3],7,[45,1,0,"",0]],"tokens":"few","lines_digest":8})");
  EXPECT_EQ(known.notices, (std::vector<MediaNotice>{{NoticeCode::kLinesRepeated, 3, 0, {}}}));
  EXPECT_EQ(known.tokens, 0);
}

// What a newer or a damaged program wrote is left out, field by field.
TEST(FigureJson, AFieldOfAnotherTypeStaysAsItIs) {
  Agreement agreement{.mean_kl = 0.5};
  fieldsFromJson(
      nlohmann::json::parse(R"({"tokens": "many", "mean_kl": "much", "top1": 0.25, "unknown": 1, "differences": [3, {"word": 2}]})"),
      agreement);
  EXPECT_EQ(agreement.tokens, 0);
  EXPECT_EQ(agreement.mean_kl, 0.5);
  EXPECT_EQ(agreement.top1, 0.25);
  EXPECT_FALSE(agreement.first_diverging_word.has_value());
  ASSERT_EQ(agreement.differences.size(), 1U);
  EXPECT_EQ(agreement.differences[0].word, 2);
}

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
  SamplingChoice one{.seed = 3};
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
