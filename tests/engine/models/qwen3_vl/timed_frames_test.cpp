#include "engine/models/families/qwen3_vl_config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/text/tokenizer_file.h"
#include "tests/support/source_folder.h"

namespace winnow::qwen3_vl_test {
namespace {

std::unique_ptr<Tokenizer> tokenizer() {
  return Tokenizer::from(read_tokenizer_file(source_folder() + "/tests/golden/qwen3_vl/published/model/tokenizer.json"));
}

Qwen3VlTokens ids() {
  const auto of = tokenizer();
  return {*of->token_id("<|image_pad|>"), *of->token_id("<|video_pad|>"), *of->token_id("<|vision_start|>"),
          *of->token_id("<|vision_end|>")};
}

TimedFrames joining(std::int64_t frames) { return {tokenizer(), ids(), frames}; }

// Pixels as dots.
std::string text_of(const MediumTokens& tokens) {
  std::string text = tokenizer()->decode(tokens.ids, SpecialTokens::kKeep);
  for (const std::string pad : {"<|image_pad|>", "<|video_pad|>"}) {
    for (std::size_t at = text.find(pad); at != std::string::npos; at = text.find(pad)) text.replace(at, pad.size(), ".");
  }
  return text;
}

MediaFacts video(std::vector<double> times_s, std::int64_t frames_before = 0) {
  const std::int64_t frames = std::ssize(times_s);
  return {MediaKind::kVideo, {}, frames, 0.0, true, std::move(times_s), frames_before};
}

TEST(TimedFrames, AnImageIsItsCells) {
  const MediumTokens tokens = joining(2).image({2, 3});
  EXPECT_EQ(text_of(tokens), "......");
  EXPECT_EQ(tokens.origins[5].row, 1);
  EXPECT_EQ(tokens.origins[5].column, 2);
}

TEST(TimedFrames, ASetOfFramesStandsBehindItsTimeTheFirstOneIsThePrompts) {
  const TimedFrames frames = joining(2);
  const std::vector<double> times = {0.5, 1.5, 2.5, 3.5, 4.5};
  EXPECT_EQ(text_of(frames.frames({1, 2}, video(times))),
            "<|vision_start|>..<|vision_end|><3.0 seconds><|vision_start|>..<|vision_end|><4.5 seconds><|vision_start|>..<|vision_end|>")
      << "the last frame is joined with itself";
  EXPECT_EQ(frames.before({5.0, 5, times}), "<1.0 seconds>");
  EXPECT_EQ(text_of(frames.frames({1, 1}, video({8.0, 9.0}, 8))), "<8.5 seconds><|vision_start|>.<|vision_end|>") << "a clip goes on";
}

TEST(TimedFrames, WordsBelongToTheirSetAndHaveNoPlaceInThePicture) {
  const MediumTokens tokens = joining(3).frames({1, 1}, video({0, 1, 2, 3, 4}));
  ASSERT_EQ(tokens.origins.size(), tokens.ids.size());
  const Qwen3VlTokens id = ids();
  std::int32_t frame = 0;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    const TokenOrigin& origin = tokens.origins[i];
    EXPECT_EQ(origin.modality, Modality::kVisual);
    EXPECT_EQ(origin.row >= 0, tokens.ids[i] == id.video);
    EXPECT_EQ(origin.frame, frame) << i;
    if (tokens.ids[i] == id.vision_end) frame = 3;
  }
}

TEST(TimedFrames, TimesAreRoundedAsPythonDoes) {
  const TimedFrames frames = joining(1);
  EXPECT_EQ(frames.before({1.0, 1, {0.25}}), "<0.2 seconds>") << "halves to even";
  EXPECT_EQ(frames.before({1.0, 1, {0.35}}), "<0.3 seconds>") << "the double lies below its decimals";
  EXPECT_EQ(frames.before({1.0, 1, {3725.06}}), "<3725.1 seconds>");
  EXPECT_EQ(joining(2).before({0.5, 1, {4.0}, true}), "<4.0 seconds>") << "of a source that is still running";
}

// GLM-4V's, with the marks of this tokenizer.
TEST(TimedFrames, ATimeBehindItsSetIsThatOfTheFirstFrame) {
  const std::vector<double> times = {0.5, 1.5, 2.75, 3.5, 4.96};
  const TimedFrames tenths(tokenizer(), ids(), 2, FrameTimes::kBehind);
  EXPECT_EQ(
      text_of(tenths.frames({1, 2}, video(times))),
      "<|vision_start|>..<|vision_end|>0.5 seconds<|vision_start|>..<|vision_end|>2.8 seconds<|vision_start|>..<|vision_end|>5.0 seconds");
  EXPECT_EQ(text_of(tenths.frames({1, 1}, video({8.0, 9.0}, 8))), "<|vision_start|>.<|vision_end|>8.0 seconds") << "a clip goes on";
  EXPECT_EQ(tenths.before({5.0, 5, times}), "") << "nothing stands before the first";
  const TimedFrames whole(tokenizer(), ids(), 2, FrameTimes::kBehindInSeconds);
  EXPECT_EQ(text_of(whole.frames({1, 2}, video(times))),
            "<|vision_start|>..<|vision_end|>0<|vision_start|>..<|vision_end|>2<|vision_start|>..<|vision_end|>4");
  EXPECT_EQ(std::vector(whole.texts().begin(), whole.texts().end()), (std::vector<std::string_view>{"<|video|>"}));
  for (const TokenOrigin& origin : whole.frames({1, 1}, video(times)).origins) EXPECT_EQ(origin.frame % 2, 0);
}

TEST(TimedFrames, CountsTheWordsOfASet) {
  const MediumTokens tokens = joining(1).frames({1, 1}, video({100.0, 110.0}));
  EXPECT_EQ(std::ssize(tokens.ids), 3 + joining(1).words() + 1) << "two pictures, the second after its time";
}

// Of transformers' Qwen3VLProcessor (rebuild: tests/golden/make/make_qwen3_vl_times_golden.py).
TEST(TimedFrames, GiveTheIdsOfTheProcessorForUnevenTimes) {
  std::ifstream file(source_folder() + "/tests/golden/qwen3_vl/times.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  ASSERT_GE(golden.at("cases").size(), 60u);
  for (const nlohmann::json& each : golden.at("cases")) {
    std::vector<double> times_s;
    for (const std::int64_t number : each.at("frames").get<std::vector<std::int64_t>>()) {
      times_s.push_back(static_cast<double>(number) / each.at("rate").get<double>());
    }
    const TimedFrames frames = joining(each.at("folder") == "published" ? 2 : 3);
    std::vector<std::int64_t> ids = tokenizer()->encode(
        golden.at("before").get<std::string>() + frames.before({times_s.back(), static_cast<int>(times_s.size()), times_s}),
        SpecialText::kParse);
    const CellGrid grid{each.at("cells")[0].get<std::int64_t>(), each.at("cells")[1].get<std::int64_t>()};
    const MediumTokens tokens = frames.frames(grid, video(times_s));
    ids.insert(ids.end(), tokens.ids.begin(), tokens.ids.end());
    const auto after = tokenizer()->encode(golden.at("after").get<std::string>(), SpecialText::kParse, TextStart::kAfterToken);
    ids.insert(ids.end(), after.begin(), after.end());
    EXPECT_EQ(ids, each.at("ids").get<std::vector<std::int64_t>>()) << each.at("rate") << each.at("frames");
  }
}

}  // namespace
}  // namespace winnow::qwen3_vl_test
