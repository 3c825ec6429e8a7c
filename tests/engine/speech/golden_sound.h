// The sound of tests/golden/make/make_whisper_golden.py, and a SoundSource of samples in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/media/sound_source.h"

namespace winnow::speech_test {

inline std::vector<float> golden_sound(std::int64_t samples) {
  std::vector<float> sound;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t value = ((i * (200 + (i / 800) % 61 * 37)) % 16000 - 8000) * ((i / 4000) % 5);
    const std::int64_t fifth = value >= 0 ? value / 5 : -((4 - value) / 5);  // rounds down, as Python does
    sound.push_back(static_cast<float>(fifth) / 32768.0F);
  }
  return sound;
}

class MemorySound final : public SoundSource {
 public:
  explicit MemorySound(std::vector<float> samples) : samples_(std::move(samples)) {}

  double duration_s() const override { return static_cast<double>(samples_.size()) / static_cast<double>(kSoundRate); }
  std::string content_hash() const override { return "memory"; }
  std::vector<float> read(std::int64_t count, const InterruptToken& interrupt) override {
    interrupt.throw_if_requested();
    const std::int64_t until = std::min(at_ + count, std::ssize(samples_));
    most_at_once = std::max(most_at_once, until - at_);
    std::vector<float> piece(samples_.begin() + at_, samples_.begin() + until);
    at_ = until;
    return piece;
  }
  void rewind() override {
    at_ = 0;
    ++times_begun;
  }

  std::int64_t most_at_once = 0;
  int times_begun = 1;

 private:
  const std::vector<float> samples_;
  std::int64_t at_ = 0;
};

}  // namespace winnow::speech_test
