// Silero's voice activity against its own TorchScript model (make_whisper_golden.py --voice), and stretches of speech.
#include "engine/speech/voice_activity.h"

#include <gtest/gtest.h>

#include "engine/media/sound_source.h"
#include "tests/engine/speech/golden_sound.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/source_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::speech_test {
namespace {

std::string weights_path() { return source_folder() + "/resources/speech/silero_vad_16k.safetensors"; }

TEST(VoiceActivity, ProbabilitiesAreThoseOfSileroHoweverSamplesCome) {
  const c10::InferenceMode inference;
  const at::Tensor expected =
      test_support::GoldenTensors(source_folder() + "/tests/golden/whisper/voice.safetensors").load("probabilities");
  const std::vector<float> sound = golden_sound(6 * kSoundRate);
  VoiceActivity voice(weights_path());
  for (const std::size_t piece : {std::size_t{700}, std::size_t{160'000}}) {
    for (std::size_t at = 0; at < sound.size(); at += piece) voice.add(std::span(sound).subspan(at, std::min(piece, sound.size() - at)));
    EXPECT_LE(test_support::relative_distance(at::tensor(voice.finish()), expected), 1e-4) << piece;
  }
}

// Of steps of 32 ms.
std::vector<float> steps(std::initializer_list<std::pair<int, float>> runs) {
  std::vector<float> probabilities;
  for (const auto& [count, value] : runs) probabilities.insert(probabilities.end(), static_cast<std::size_t>(count), value);
  return probabilities;
}

TEST(SpokenStretches, EndAtLongPausesAndHavePadding) {
  const auto found = spoken_stretches(steps({{50, 0.0F}, {50, 0.9F}, {20, 0.1F}, {30, 0.8F}, {100, 0.0F}, {40, 0.7F}}), 290 * 512);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].begin, 50 * 512 - 3200);
  EXPECT_EQ(found[0].end, 150 * 512 + 3200) << "a short pause is no end";
  EXPECT_EQ(found[1].end, 290 * 512);
}

TEST(SpokenStretches, NeitherSilenceNorAClickIsSpeech) {
  EXPECT_TRUE(spoken_stretches(steps({{100, 0.1F}}), 51'200).empty());
  EXPECT_TRUE(spoken_stretches(steps({{10, 0.0F}, {5, 0.9F}, {100, 0.0F}}), 58'880).empty());
  EXPECT_EQ(spoken_stretches(steps({{10, 0.0F}, {20, 0.9F}, {10, 0.4F}}), 20'480).size(), 1U) << "undecided goes on";
}

}  // namespace
}  // namespace winnow::speech_test
