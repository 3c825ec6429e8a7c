#include "engine/metrics/machine_speed.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace winnow {
namespace {

constexpr double kWeightOfNew = 0.5;

void learn(double& known, double measured) { known = known > 0.0 ? kWeightOfNew * measured + (1.0 - kWeightOfNew) * known : measured; }

int length_class(std::int64_t tokens) {
  return static_cast<int>(std::floor(std::log2(static_cast<double>(std::max<std::int64_t>(1, tokens)))));
}

}  // namespace

void MachineSpeed::add(const TurnWork& work, const TimingsMs& timings, double tokens_per_s) {
  const double prefill = timings.prefill / work.prefill_passes + timings.statistics + timings.compress;
  if (work.prefill_tokens > 0 && prefill > 0.0) {
    learn(prefill_ms_per_token[length_class(work.prefill_tokens)], prefill / static_cast<double>(work.prefill_tokens));
  }
  // One figure covers all media of a turn: it says nothing where there were both kinds.
  const double media = timings.media + timings.preprocess + timings.vision;
  if (media > 0.0 && work.video_frames > 0 && work.image_tokens == 0) learn(ms_per_frame, media / static_cast<double>(work.video_frames));
  if (media > 0.0 && work.image_tokens > 0 && work.video_frames == 0)
    learn(ms_per_image_token, media / static_cast<double>(work.image_tokens));
  if (media > 0.0) learn(encoder_share, timings.vision / media);
  if (tokens_per_s > 0.0) learn(ms_per_generated_token, 1000.0 / tokens_per_s);
}

std::optional<FirstWait> MachineSpeed::first_wait(const TurnWork& work) const {
  if (work.video_frames > 0 && ms_per_frame <= 0.0) return std::nullopt;
  if (work.image_tokens > 0 && ms_per_image_token <= 0.0) return std::nullopt;
  const double media = ms_per_frame * static_cast<double>(work.video_frames) + ms_per_image_token * static_cast<double>(work.image_tokens);
  FirstWait wait{(1.0 - encoder_share) * media, encoder_share * media};
  if (work.prefill_tokens == 0) return wait;
  if (prefill_ms_per_token.empty()) return std::nullopt;
  // A class stands for the middle of its lengths.
  const double place = std::log2(static_cast<double>(work.prefill_tokens)) - 0.5;
  const auto above =
      std::find_if(prefill_ms_per_token.begin(), prefill_ms_per_token.end(), [&](const auto& known) { return known.first >= place; });
  double per_token = 0.0;
  if (above == prefill_ms_per_token.begin()) {
    per_token = above->second;
  } else if (above == prefill_ms_per_token.end()) {
    per_token = std::prev(above)->second;
  } else {
    const auto below = std::prev(above);
    const double part = (place - below->first) / (above->first - below->first);
    per_token = (1.0 - part) * below->second + part * above->second;
  }
  wait.prefill_ms = per_token * static_cast<double>(work.prefill_tokens * work.prefill_passes);
  return wait;
}

}  // namespace winnow
