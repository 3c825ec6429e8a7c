#include "engine/speech/voice_activity.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"
#include "engine/media/sound_source.h"
#include "engine/weights/model_weights.h"
#include "engine/weights/safetensors.h"

namespace winnow {
namespace {

constexpr std::int64_t kContext = 64;
constexpr std::int64_t kStepsTogether = 256;  // judged at a time
constexpr std::int64_t kTransformSize = 256;
constexpr std::int64_t kTransformStride = 128;
constexpr std::int64_t kSpectrum = kTransformSize / 2 + 1;
constexpr std::int64_t kState = 128;

// A pause ends a stretch when it is this long; padding keeps the beginnings and ends of words.
constexpr float kSpeech = 0.5F;
constexpr float kSilence = 0.35F;
constexpr std::int64_t kLeastSilence = 2 * kSoundRate;
constexpr std::int64_t kLeastSpeech = kSoundRate / 4;
constexpr std::int64_t kPadding = kSoundRate / 5;

}  // namespace

VoiceActivity::VoiceActivity(const std::string& path) {
  ModelWeights weights({path, {std::make_shared<SafetensorsFile>(path)}}, {});
  const auto load = [&](const std::string& name, at::IntArrayRef shape) { return weights.load(name, shape, at::kFloat); };
  transform_ = load("stft_conv.weight", {2 * kSpectrum, 1, kTransformSize});
  const std::int64_t widths[] = {kSpectrum, 128, 64, 64, kState};
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::string name = "conv" + std::to_string(i + 1);
    const std::int64_t stride = i == 1 || i == 2 ? 2 : 1;
    kernels_.push_back({load(name + ".weight", {widths[i + 1], widths[i], 3}), load(name + ".bias", {widths[i + 1]}), stride});
  }
  input_weight_ = load("lstm_cell.weight_ih", {4 * kState, kState});
  state_weight_ = load("lstm_cell.weight_hh", {4 * kState, kState});
  input_bias_ = load("lstm_cell.bias_ih", {4 * kState});
  state_bias_ = load("lstm_cell.bias_hh", {4 * kState});
  last_weight_ = load("final_conv.weight", {1, kState, 1}).view({1, kState});
  last_bias_ = load("final_conv.bias", {1});
  finish();
}

void VoiceActivity::add(std::span<const float> samples) {
  waiting_.insert(waiting_.end(), samples.begin(), samples.end());
  if (std::ssize(waiting_) >= kContext + kStepsTogether * kStep) judge_steps();
}

std::vector<float> VoiceActivity::finish() {
  if (const std::int64_t left = (std::ssize(waiting_) - kContext) % kStep; left > 0) waiting_.resize(waiting_.size() + kStep - left);
  judge_steps();
  waiting_.assign(kContext, 0.0F);
  hidden_ = at::zeros({1, kState});
  cell_ = at::zeros({1, kState});
  return std::exchange(probabilities_, {});
}

void VoiceActivity::judge_steps() {
  const std::int64_t steps = (std::ssize(waiting_) - kContext) / kStep;
  if (steps <= 0) return;
  const at::Tensor rows = at::from_blob(waiting_.data(), {steps, 1, kContext + kStep}, {kStep, kStep, 1}, at::kFloat);
  const at::Tensor parts = at::conv1d(at::reflection_pad1d(rows, {0, kContext}), transform_, {}, kTransformStride);
  at::Tensor values = (parts.narrow(1, 0, kSpectrum).square() + parts.narrow(1, kSpectrum, kSpectrum).square()).sqrt();
  for (const Kernel& kernel : kernels_) values = at::conv1d(values, kernel.weight, kernel.bias, kernel.stride, 1).relu();
  const at::Tensor gates = at::linear(values.flatten(1), input_weight_, input_bias_);  // [steps, 4 * state]
  at::Tensor states = at::empty({steps, kState});
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::vector<at::Tensor> gate = (gates.narrow(0, step, 1) + at::linear(hidden_, state_weight_, state_bias_)).chunk(4, 1);
    cell_ = gate[1].sigmoid() * cell_ + gate[0].sigmoid() * gate[2].tanh();
    hidden_ = gate[3].sigmoid() * cell_.tanh();
    states.narrow(0, step, 1).copy_(hidden_);
  }
  const std::vector<float> spoken = numbers_of(at::linear(states.relu(), last_weight_, last_bias_).sigmoid());
  probabilities_.insert(probabilities_.end(), spoken.begin(), spoken.end());
  waiting_.erase(waiting_.begin(), waiting_.begin() + steps * kStep);
}

std::vector<SpokenStretch> spoken_stretches(std::span<const float> probabilities, std::int64_t samples) {
  std::vector<SpokenStretch> found;
  constexpr std::int64_t kNone = -1;
  std::int64_t begin = kNone;  // of the stretch
  std::int64_t pause = kNone;  // of the silence in it
  const auto end_at = [&](std::int64_t end) {
    if (end - begin > kLeastSpeech) found.push_back({begin, end});
    begin = pause = kNone;
  };
  for (std::size_t step = 0; step < probabilities.size(); ++step) {
    const std::int64_t at = static_cast<std::int64_t>(step) * VoiceActivity::kStep;
    if (probabilities[step] >= kSpeech) {
      pause = kNone;
      if (begin == kNone) begin = at;
    } else if (begin != kNone && probabilities[step] < kSilence) {
      if (pause == kNone) pause = at;
      if (at - pause >= kLeastSilence) end_at(pause);
    }
  }
  if (begin != kNone) end_at(samples);
  // Pauses are longer than two paddings, so that stretches stay apart.
  for (SpokenStretch& stretch : found)
    stretch = {std::max<std::int64_t>(0, stretch.begin - kPadding), std::min(samples, stretch.end + kPadding)};
  return found;
}

}  // namespace winnow
