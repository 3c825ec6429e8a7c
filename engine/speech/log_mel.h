// Log-mel features of sound as transformers' WhisperFeatureExtractor computes them, in pieces.
//
// Used by heard_sound.h. Frame t is the spectrum of samples [160 t - 200, 160 t + 200) under a periodic Hann window; its power goes through
// Slaney's mel filters (Slaney norm), and becomes log10, at least 1e-10. What is left is a step over all of the sound: max(x, most - 8),
// then (x + 4) / 4. Samples: 16 kHz, mono. fp32, on the CPU. Errors: kInternal for too few samples. Threads: any.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "engine/media/sound_source.h"

namespace winnow {

inline constexpr std::int64_t kMelHop = 160;    // samples a frame
inline constexpr std::int64_t kMelReach = 200;  // samples on either side of a frame's middle
inline constexpr double kFramesPerSecond = static_cast<double>(kSoundRate) / kMelHop;

class LogMel {
 public:
  explicit LogMel(std::int64_t bins);

  // samples: those of `frames` frames, (frames - 1) * kMelHop + 2 * kMelReach. Returns [bins, frames], without the last step.
  at::Tensor frames(std::span<const float> samples, std::int64_t frames) const;
  // The last step; most: the highest value of the whole sound.
  static at::Tensor normalised(const at::Tensor& frames, double most);

 private:
  at::Tensor window_;   // [400]
  at::Tensor filters_;  // [bins, 201]
};

}  // namespace winnow
