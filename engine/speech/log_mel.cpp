#include "engine/speech/log_mel.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kTransform = 2 * kMelReach;
constexpr double kHighest = 8000.0;  // Hz
constexpr double kLeastPower = 1e-10;
constexpr double kRange = 8.0;

// Slaney's scale: linear up to 1000 Hz, logarithmic above.
constexpr double kLinearHz = 1000.0;
constexpr double kLinearMel = 15.0;
const double kLogStep = 27.0 / std::log(6.4);

double mel_of(double hertz) { return hertz >= kLinearHz ? kLinearMel + std::log(hertz / kLinearHz) * kLogStep : 3.0 * hertz / 200.0; }

double hertz_of(double mel) { return mel >= kLinearMel ? kLinearHz * std::exp((mel - kLinearMel) / kLogStep) : 200.0 * mel / 3.0; }

// Triangles between neighbouring corners, each of the same area.
at::Tensor slaney_filters(std::int64_t bins) {
  std::vector<double> corners;
  for (std::int64_t i = 0; i < bins + 2; ++i)
    corners.push_back(hertz_of(mel_of(kHighest) * static_cast<double>(i) / static_cast<double>(bins + 1)));
  const std::int64_t columns = kTransform / 2 + 1;
  at::Tensor filters = at::zeros({bins, columns}, at::kDouble);
  auto values = filters.accessor<double, 2>();
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const auto at = static_cast<std::size_t>(bin);
    const double left = corners[at], middle = corners[at + 1], right = corners[at + 2];
    for (std::int64_t column = 0; column < columns; ++column) {
      const double hertz = kHighest * static_cast<double>(column) / static_cast<double>(columns - 1);
      const double height = std::min((hertz - left) / (middle - left), (right - hertz) / (right - middle));
      values[bin][column] = std::max(0.0, height) * 2.0 / (right - left);
    }
  }
  return filters.to(at::kFloat);
}

}  // namespace

LogMel::LogMel(std::int64_t bins) : window_(at::hann_window(kTransform, at::kFloat)), filters_(slaney_filters(bins)) {}

at::Tensor LogMel::frames(std::span<const float> samples, std::int64_t frames) const {
  require(frames > 0 && std::ssize(samples) >= (frames - 1) * kMelHop + kTransform, "log-mel: there are fewer samples than frames need");
  const at::Tensor rows = at::from_blob(const_cast<float*>(samples.data()), {frames, kTransform}, {kMelHop, 1}, at::kFloat);  // only read
  const at::Tensor spectrum = at::view_as_real(at::fft_rfft(rows * window_));
  const at::Tensor power = spectrum.square().sum(-1);  // [frames, 201]
  return at::matmul(filters_, power.t()).clamp_min_(kLeastPower).log10_();
}

at::Tensor LogMel::normalised(const at::Tensor& frames, double most) { return frames.clamp_min(most - kRange).add_(4.0).div_(4.0); }

}  // namespace winnow
