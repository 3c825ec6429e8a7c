// Whisper against transformers (tests/golden/make/make_whisper_golden.py): features, encoder, logits, and long sound as lines with times.
#include <gtest/gtest.h>

#include <memory>

#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/weights/weight_format.h"
#include "engine/speech/transcription.h"
#include "tests/engine/speech/golden_sound.h"
#include "tests/support/expect_error.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/source_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::speech_test {
namespace {

constexpr double kFeaturesTolerance = 2e-6;
constexpr double kStatesTolerance = 1e-5;  // 6e-6 on processors with AVX-512, whose sums have another order
constexpr double kLogitsTolerance = 1e-5;
constexpr std::int64_t kColumns = 20;  // one of so many is kept of features
constexpr std::int64_t kSamples = 9 * kSoundRate + 77;

std::string golden_folder(const std::string& name) { return source_folder() + "/tests/golden/whisper/" + name; }

class Whisper : public ::testing::TestWithParam<const char*> {
 protected:
  Whisper() : golden_(golden_folder(GetParam()) + "/golden.safetensors"), package_(golden_folder(GetParam())) { model_ = loaded({}); }

  SpeechModel loaded(const WeightPlan& plan) const { return load_speech_model({package_, at::kCPU, plan, {}, {}, {}}); }
  const WhisperConfig& config() const { return model_.network->config(); }
  at::Tensor first_window() const {
    MemorySound sound(golden_sound(kSamples));
    HeardSound heard(sound, config().mel_bins, nullptr, {}, {});
    return heard.window(0, config().window_frames(), config().window_frames(), {});
  }
  // As the golden script asks: greedy, nothing tried again.
  static FallbackRules greedy() { return {{0.0}, 1e9, -1e9, 2.0}; }

  c10::InferenceMode inference_;
  test_support::GoldenTensors golden_;
  HuggingFaceFolder package_;
  SpeechModel model_;
};

TEST_P(Whisper, FeaturesAreThoseOfTransformersHoweverTheyAreRead) {
  MemorySound sound(golden_sound(kSamples));
  HeardSound heard(sound, config().mel_bins, nullptr, {}, {});
  ASSERT_EQ(heard.frames(), 900);
  std::vector<at::Tensor> pieces;
  std::int64_t first = 0;
  for (const std::int64_t count : {1, 2, 197, 300, 400}) {
    pieces.push_back(heard.window(first, count, count, {}));
    first += count;
  }
  const at::Tensor features = at::cat(pieces, 1).slice(1, 0, std::nullopt, kColumns);
  EXPECT_LE(test_support::relative_distance(features, golden_.load("features")), kFeaturesTolerance);
  EXPECT_EQ(sound.times_begun, 2);
}

TEST_P(Whisper, ASoundThatIsFilledUpWithSilenceHasTheFeaturesOfTransformers) {
  std::vector<float> samples = golden_sound(20'000);
  samples.resize(2 * kSoundRate);
  MemorySound sound(samples);
  HeardSound heard(sound, config().mel_bins, nullptr, {}, {});
  const at::Tensor features = heard.window(0, 200, 200, {}).slice(1, 0, std::nullopt, kColumns);
  EXPECT_LE(test_support::relative_distance(features, golden_.load("short")), kFeaturesTolerance);
}

TEST_P(Whisper, EncoderAndLogitsAreThoseOfTransformers) {
  const at::Tensor states = model_.network->encode(first_window(), {});
  EXPECT_LE(test_support::relative_distance(states, golden_.load("states")), kStatesTolerance);
  const at::Tensor prompt = golden_.load("prompt");
  const std::span<const std::int64_t> ids(prompt.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(prompt.numel()));
  WhisperModel::Window window(*model_.network, states);
  const at::Tensor expected = golden_.load("logits");
  EXPECT_LE(test_support::relative_distance(window.all_logits(ids), expected), kLogitsTolerance);
  window.begin_anew();
  for (std::size_t i = 0; i < ids.size(); ++i)
    EXPECT_LE(test_support::relative_distance(window.logits(ids.subspan(i, 1)), expected[static_cast<std::int64_t>(i)]), kLogitsTolerance)
        << i;
}

TEST_P(Whisper, LongSoundBecomesTheLinesOfTransformers) {
  const at::Tensor lines = golden_.load("lines");
  const at::Tensor tokens = golden_.load("tokens");
  MemorySound sound(golden_sound(kSamples));
  HeardSound heard(sound, config().mel_bins, nullptr, {}, {});
  std::vector<std::int64_t> prompt = {config().tokens.start};
  if (golden_.has("language")) {
    const auto language = golden_.load("language")[0].item<std::int64_t>();
    WhisperModel::Window window(*model_.network, model_.network->encode(first_window(), {}));
    EXPECT_EQ(spoken_language(window, config().tokens), language);
    prompt.insert(prompt.end(), {language, config().tokens.transcribe});
  }
  std::int64_t line = 0;
  std::int64_t token = 0;
  for (std::int64_t seek = 0; seek < heard.frames();) {
    const std::int64_t frames = std::min(config().window_frames(), heard.frames() - seek);
    WhisperModel::Window window(*model_.network, model_.network->encode(heard.window(seek, frames, config().window_frames(), {}), {}));
    const WindowTokens answer = decode_window(window, config(), prompt, greedy(), {});
    const WindowLines found = lines_of(answer.tokens, config().tokens.first_time(), seek, frames);
    for (const SpokenLine& each : found.lines) {
      ASSERT_LT(line, lines.size(0));
      EXPECT_NEAR(each.start_s, lines[line][0].item<float>(), 1e-4) << line;
      EXPECT_NEAR(each.end_s, lines[line][1].item<float>(), 1e-4) << line;
      const auto count = static_cast<std::int64_t>(lines[line++][2].item<float>());
      std::vector<std::int64_t> words;
      for (const std::int64_t last = token + count; token < last; ++token)
        if (const auto id = tokens[token].item<std::int64_t>(); id < config().tokens.first_time()) words.push_back(id);
      EXPECT_EQ(each.tokens, words) << line;
    }
    seek += found.frames;
  }
  EXPECT_EQ(line, lines.size(0));
  EXPECT_GT(line, 4) << "the sound is long";
}

TEST_P(Whisper, ATranscriptHasTheTextOfTheLines) {
  MemorySound sound(golden_sound(kSamples));
  std::vector<TimedLine> told;
  double heard_s = 0.0;
  TranscriptionHooks hooks;
  hooks.line = [&](const TimedLine& line) { told.push_back(line); };
  hooks.heard = [&](double seconds, const std::string& language) {
    heard_s = seconds;
    EXPECT_EQ(language.empty(), config().tokens.languages.empty());
  };
  const Transcript transcript = transcribe(model_, sound, {nullptr, "", greedy()}, hooks, {});
  EXPECT_EQ(transcript.lines, told);
  EXPECT_FALSE(told.empty());
  EXPECT_DOUBLE_EQ(heard_s, 9.0);
  EXPECT_NEAR(transcript.seconds, 9.0048, 1e-3);
  EXPECT_EQ(transcript.language.size(), 2U);
  for (const TimedLine& line : told) EXPECT_LE(line.start_s, line.end_s);
}

TEST_P(Whisper, WhatWasBrokenOffGoesOnWithTheSameLines) {
  MemorySound sound(golden_sound(kSamples));
  const Transcript whole = transcribe(model_, sound, {nullptr, "", greedy()}, {}, {});
  for (int windows = 1; windows < 4; ++windows) {
    InterruptSource stop;
    HearingSettings rest{nullptr, "", greedy()};
    TranscriptionHooks hooks;
    hooks.line = [&](const TimedLine& line) { rest.lines.push_back(line); };
    hooks.heard = [&, left = windows](double seconds, const std::string& language) mutable {
      rest.heard_s = seconds;
      rest.language = language;
      if (--left == 0) stop.request_stop();
    };
    MemorySound once(golden_sound(kSamples)), again(golden_sound(kSamples));
    EXPECT_THROW(transcribe(model_, once, rest, hooks, stop.token()), Interrupted);
    EXPECT_GT(rest.heard_s, 0.0);
    hooks = {};
    double first_s = 0.0;
    hooks.heard = [&](double seconds, const std::string&) { first_s = first_s > 0.0 ? first_s : seconds; };
    EXPECT_EQ(transcribe(model_, again, rest, hooks, {}).lines, whole.lines) << windows;
    EXPECT_GT(first_s, rest.heard_s) << "nothing is heard twice";
  }
}

TEST_P(Whisper, EightBitMatricesHearAboutTheSame) {
  const SpeechModel packed = loaded(weights_as(WeightFormat::kInt8, VisionFormat::kInt8, at::kCPU));
  EXPECT_NE(packed.dtype, model_.dtype);
  const at::Tensor states = model_.network->encode(first_window(), {});
  EXPECT_LE(test_support::relative_distance(packed.network->encode(first_window(), {}).to(at::kFloat), states), 0.1);
}

TEST_P(Whisper, StopIsSeenBetweenTokens) {
  InterruptSource stop;
  MemorySound sound(golden_sound(kSamples));
  TranscriptionHooks hooks;
  int lines = 0;
  hooks.line = [&](const TimedLine&) {
    ++lines;
    stop.request_stop();
  };
  EXPECT_THROW(transcribe(model_, sound, {nullptr, "", greedy()}, hooks, stop.token()), Interrupted);
  EXPECT_GE(lines, 1);
}

INSTANTIATE_TEST_SUITE_P(Folders, Whisper, ::testing::Values("english", "several"), testing::folder_info_name);

TEST(WhisperLanguage, OneThatTheModelLacksIsRefusedByName) {
  const c10::InferenceMode inference;
  const HuggingFaceFolder package(golden_folder("several"));
  const SpeechModel model = load_speech_model({package, at::kCPU, {}, {}, {}, {}});
  MemorySound sound(golden_sound(kSoundRate));
  test::expect_error(ErrorCode::kInvalidArgument, "does not know this language", [&] {
    transcribe(model, sound, {nullptr, "xx"}, {}, {});
  });
}

// Slices of a window's tokens; first_time is 100, so that 150 is second 1.
TEST(WhisperLines, BeginAndEndAtTimes) {
  const std::vector<std::int64_t> complete = {100, 7, 8, 150, 150, 9, 175};
  WindowLines found = lines_of(complete, 100, 1000, 3000);
  ASSERT_EQ(found.lines.size(), 2U);
  EXPECT_DOUBLE_EQ(found.lines[0].start_s, 10.0);
  EXPECT_DOUBLE_EQ(found.lines[0].end_s, 11.0);
  EXPECT_DOUBLE_EQ(found.lines[1].end_s, 11.5);
  EXPECT_EQ(found.lines[0].tokens, (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(found.frames, 3000) << "nothing is said behind a single time";
  const std::vector<std::int64_t> cut = {100, 7, 150, 150, 9};
  found = lines_of(cut, 100, 0, 3000);
  ASSERT_EQ(found.lines.size(), 1U);
  EXPECT_EQ(found.frames, 100) << "half a line is heard again";
  const std::vector<std::int64_t> untimed = {100, 7, 8};
  found = lines_of(untimed, 100, 0, 2999);
  ASSERT_EQ(found.lines.size(), 1U);
  EXPECT_NEAR(found.lines[0].end_s, 29.98, 1e-9);
}

}  // namespace
}  // namespace winnow::speech_test
