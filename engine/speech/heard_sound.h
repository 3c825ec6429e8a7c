// A sound as features of a speech model, in windows, read twice and never whole: first for its loudest value, which all features are
// measured by, and for where somebody speaks; then window by window.
//
// Used by transcription.h. Memory: one window of samples, and four bytes for each 32 ms. Frames are features' columns, of 10 ms. Errors:
// the sound's; kMediaChanged where the second reading finds another length. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/media/sound_source.h"
#include "engine/speech/log_mel.h"
#include "engine/speech/voice_activity.h"

namespace winnow {

struct SpokenFrames {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

class HeardSound {
 public:
  // Reads the whole sound once. voice: null: everything counts as spoken. progress: seconds so far; may be empty.
  HeardSound(SoundSource& sound, std::int64_t bins, VoiceActivity* voice, const std::function<void(double)>& progress,
             const InterruptToken& interrupt);

  std::int64_t frames() const { return samples_ / kMelHop; }
  double seconds() const { return static_cast<double>(samples_) / static_cast<double>(kSoundRate); }
  const std::vector<SpokenFrames>& spoken() const { return spoken_; }

  // Frames [first, first + count) of features, filled up with zeros to `columns`: [bins, columns]. first never goes back.
  at::Tensor window(std::int64_t first, std::int64_t count, std::int64_t columns, const InterruptToken& interrupt);

 private:
  // Samples [from, to), beyond the ends by reflection (torch.stft's padding). Reads on as far as needed.
  std::vector<float> samples_between(std::int64_t from, std::int64_t to, const InterruptToken& interrupt);
  void read_on(const InterruptToken& interrupt);
  void forget_before(std::int64_t sample);

  SoundSource& sound_;
  LogMel mel_;
  std::int64_t samples_ = -1;  // of the whole sound; -1: not known yet
  double most_ = 0.0;
  std::vector<SpokenFrames> spoken_;
  std::vector<float> held_;  // samples from held_from_ on
  std::int64_t held_from_ = 0;
};

}  // namespace winnow
