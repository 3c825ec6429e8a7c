// The stretches in which somebody speaks: Silero's voice activity detector (github.com/snakers4/silero-vad, MIT), version 6 at 16 kHz.
//
// Used by heard_sound.h, in front of the speech model, so that silence and music are not decoded. Every 32 ms (512 samples, behind the last
// 64 before them) give a probability: a short Fourier transform as a convolution, four convolutions, an LSTM whose state goes on. Weights:
// safetensors of silero_vad_16k, fp32. Stretches are those of its get_speech_timestamps with the settings below. Errors: kDamagedFile
// naming the tensor. Threads: engine thread, under c10::InferenceMode.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace winnow {

struct SpokenStretch {
  std::int64_t begin = 0;  // samples
  std::int64_t end = 0;
};

class VoiceActivity {
 public:
  static constexpr std::int64_t kStep = 512;  // samples

  // path: of the weights.
  explicit VoiceActivity(const std::string& path);

  // The next samples of a sound.
  void add(std::span<const float> samples);
  // Probabilities of every step, the last one filled up with silence; from then on it listens to a new sound.
  std::vector<float> finish();

 private:
  void judge_steps();

  struct Kernel {
    at::Tensor weight;
    at::Tensor bias;
    std::int64_t stride = 1;
  };
  at::Tensor transform_;
  std::vector<Kernel> kernels_;
  at::Tensor input_weight_, input_bias_, state_weight_, state_bias_;  // of the LSTM
  at::Tensor last_weight_, last_bias_;
  at::Tensor hidden_, cell_;          // [1, 128]
  std::vector<float> waiting_;        // context, then samples that are not judged yet
  std::vector<float> probabilities_;  // so far
};

// Stretches with their padding, in order, apart. samples: of the whole sound.
std::vector<SpokenStretch> spoken_stretches(std::span<const float> probabilities, std::int64_t samples);

}  // namespace winnow
