#include "engine/generation/context/expected_frame.h"

#include <algorithm>
#include <limits>

#include "engine/base/stopwatch.h"

namespace winnow {
namespace {

// Multiply-adds a millisecond.
double product_speed(at::ScalarType type) {
  constexpr std::int64_t kRows = 256;
  constexpr std::int64_t kSide = 1024;
  constexpr int kTries = 4;  // the first one prepares the kernels
  const at::Tensor input = at::ones({kRows, kSide}, type);
  const at::Tensor matrix = at::ones({kSide, kSide}, type);
  double ms = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const Stopwatch watch;
    at::linear(input, matrix);
    ms = std::min(ms, watch.elapsed_ms());
  }
  return static_cast<double>(kRows * kSide * kSide) / std::max(ms, 1e-3);
}

// Counts patches of 14 x 14 pixels, as most encoders have them, in a frame of a usual shape.
double patches_of_a_frame(const VisionLanguageModel& model) {
  constexpr double kNumbersOfPatch = 3 * 14 * 14;
  const std::int64_t frames = model.info().traits.joined_frames;
  MediaFacts facts{.kind = MediaKind::kVideo, .picture = {640, 360}, .frames = frames, .duration_s = static_cast<double>(frames)};
  for (std::int64_t i = 0; i < frames; ++i) facts.times_s.push_back(static_cast<double>(i));
  const RgbImage grey{640, 360, std::vector<std::uint8_t>(std::size_t{3} * 640 * 360, 128)};
  const std::vector<RgbImage> pictures(static_cast<std::size_t>(frames), grey);
  // Joined frames are seen in one pass.
  return static_cast<double>(model.preprocess(facts, pictures).pixels.numel()) / kNumbersOfPatch / static_cast<double>(frames * frames);
}

}  // namespace

double expected_frame_ms(const VisionLanguageModel& model) {
  constexpr double kBesideProducts = 1.4;  // attention, norms and activations, measured on SigLIP so400m
  const ModelInfo& info = model.info();
  if (!info.traits.sees || !info.traits.reads_videos || info.vision_products == 0 || info.device != "cpu") return 0.0;
  const double products = static_cast<double>(info.vision_products) * patches_of_a_frame(model);
  return kBesideProducts * products / product_speed(model.text().kv_shape().dtype);
}

}  // namespace winnow
