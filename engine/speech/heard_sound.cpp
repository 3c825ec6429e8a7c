#include "engine/speech/heard_sound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kPiece = 10 * kSoundRate;  // samples that are read at a time

}  // namespace

HeardSound::HeardSound(SoundSource& sound, std::int64_t bins, VoiceActivity* voice, const std::function<void(double)>& progress,
                       const InterruptToken& interrupt)
    : sound_(sound), mel_(bins) {
  double most = -std::numeric_limits<double>::infinity();
  const auto weigh = [&](std::int64_t first, std::int64_t count) {
    if (count <= 0) return;
    const std::vector<float> samples = samples_between(first * kMelHop - kMelReach, (first + count - 1) * kMelHop + kMelReach, interrupt);
    most = std::max(most, mel_.frames(samples, count).max().item<double>());
  };
  std::int64_t read = 0;
  std::int64_t weighed = 0;
  while (samples_ < 0) {
    interrupt.throw_if_requested();
    read_on(interrupt);
    const std::int64_t now = held_from_ + std::ssize(held_);
    if (voice != nullptr) voice->add(std::span(held_).subspan(static_cast<std::size_t>(read - held_from_)));
    read = now;
    // Frames whose samples are all there; those at the end wait for it.
    const std::int64_t ready = samples_ < 0 ? (now - kMelReach) / kMelHop : frames();
    weigh(weighed, ready - weighed);
    weighed = std::max(weighed, ready);
    if (progress) progress(static_cast<double>(now) / static_cast<double>(kSoundRate));
  }
  most_ = most;
  if (voice == nullptr) {
    spoken_ = {{0, frames()}};
  } else {
    for (const SpokenStretch& stretch : spoken_stretches(voice->finish(), samples_))
      spoken_.push_back({stretch.begin / kMelHop, std::min(frames(), (stretch.end + kMelHop - 1) / kMelHop)});
  }
  sound_.rewind();
  held_.clear();
  held_from_ = 0;
}

void HeardSound::read_on(const InterruptToken& interrupt) {
  const std::vector<float> piece = sound_.read(kPiece, interrupt);
  held_.insert(held_.end(), piece.begin(), piece.end());
  const std::int64_t now = held_from_ + std::ssize(held_);
  if (std::ssize(piece) == kPiece) return;
  if (samples_ >= 0 && samples_ != now) throw Exception(ErrorCode::kMediaChanged, "", "its sound has another length than it had");
  samples_ = now;
}

std::vector<float> HeardSound::samples_between(std::int64_t from, std::int64_t to, const InterruptToken& interrupt) {
  while (held_from_ + std::ssize(held_) < to && (samples_ < 0 || held_from_ + std::ssize(held_) < samples_)) {
    forget_before(from);
    read_on(interrupt);
  }
  const std::int64_t end = held_from_ + std::ssize(held_);
  std::vector<float> wanted;
  wanted.reserve(static_cast<std::size_t>(to - from));
  for (std::int64_t at = from; at < to; ++at) {
    std::int64_t sample = std::abs(at);
    if (samples_ >= 0 && sample >= samples_) sample = 2 * (samples_ - 1) - sample;
    const bool there = sample >= held_from_ && sample < end;
    wanted.push_back(there ? held_[static_cast<std::size_t>(sample - held_from_)] : 0.0F);
  }
  forget_before(from);
  return wanted;
}

void HeardSound::forget_before(std::int64_t sample) {
  const std::int64_t end = held_from_ + std::ssize(held_);
  // Reflection at the sound's end reaches back.
  const std::int64_t kept = std::max(std::min(sample, end - 2 * kMelReach), held_from_);
  held_.erase(held_.begin(), held_.begin() + (kept - held_from_));
  held_from_ = kept;
}

at::Tensor HeardSound::window(std::int64_t first, std::int64_t count, std::int64_t columns, const InterruptToken& interrupt) {
  require(count > 0 && count <= columns && first >= 0 && first + count <= frames(), "speech: a window lies in its sound");
  const std::vector<float> samples = samples_between(first * kMelHop - kMelReach, (first + count - 1) * kMelHop + kMelReach, interrupt);
  const at::Tensor features = LogMel::normalised(mel_.frames(samples, count), most_);
  return at::constant_pad_nd(features, {0, columns - count});
}

}  // namespace winnow
