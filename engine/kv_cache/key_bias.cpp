#include "engine/kv_cache/key_bias.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr unsigned kAxisBits = 21;
constexpr std::int64_t kMostAxes = 3;
constexpr float kCodeOfOne = 32767.0F;  // of a cosine

std::optional<std::uint64_t> packed(const std::vector<std::int64_t>& position) {
  std::uint64_t all = 0;
  for (const std::int64_t each : position) {
    if (each < 0 || each >= std::int64_t{1} << kAxisBits) return std::nullopt;
    all = all << kAxisBits | static_cast<std::uint64_t>(each);
  }
  return all;
}

}  // namespace

at::Tensor strong_bias(const at::Tensor& bias) {
  const std::int64_t half = bias.size(1) / 2;
  const at::Tensor pairs = bias.view({-1, 2, half});  // [kv_heads, 2, half]
  at::Tensor strong = at::zeros_like(pairs);
  for (std::int64_t first = 0; first < half; first += KeyRotations::kPairs) {
    const at::Tensor unit = pairs.narrow(2, first, std::min(KeyRotations::kPairs, half - first));
    const at::Tensor taken = unit.square().sum(1).amax(1).gt(kWeakBias * kWeakBias).view({-1, 1, 1});
    strong.narrow(2, first, unit.size(2)).copy_(unit * taken);
  }
  return strong.view_as(bias);
}

KeyRotations::KeyRotations(std::shared_ptr<const KeyBias> bias)
    : bias_(std::move(bias)),
      units_((bias_->frequencies.numel() + kPairs - 1) / kPairs),
      step_(static_cast<float>(bias_->rotary.magnitude) / kCodeOfOne) {
  require(bias_->rotary.axes() <= kMostAxes, "KeyRotations: a position has at most three axes");
  rows_.resize(static_cast<std::size_t>(units_ * kUnit));
  positions_.resize(static_cast<std::size_t>(bias_->rotary.axes()), -1);
}

std::vector<std::int32_t> KeyRotations::at(const at::Tensor& positions) {
  const std::int64_t axes = bias_->rotary.axes();
  require(positions.dim() == 2 && positions.size(0) == axes, "KeyRotations: one position for each axis");
  const at::Tensor numbers = positions.to(at::kCPU, at::kLong).contiguous();
  const auto* const of_axes = numbers.const_data_ptr<std::int64_t>();
  std::vector<std::int32_t> rotations;
  std::vector<std::int64_t> position(static_cast<std::size_t>(axes));
  for (std::int64_t i = 0; i < numbers.size(1); ++i) {
    for (std::int64_t axis = 0; axis < axes; ++axis) position[static_cast<std::size_t>(axis)] = of_axes[axis * numbers.size(1) + i];
    const std::optional<std::uint64_t> key = packed(position);
    if (!key) {
      rotations.push_back(kNone);
      continue;
    }
    const auto next = static_cast<std::int32_t>(row_of_.size() + 1);
    const auto [found, is_new] = row_of_.try_emplace(*key, next);
    if (is_new) add(position);
    rotations.push_back(found->second);
  }
  return rotations;
}

void KeyRotations::add(const std::vector<std::int64_t>& position) {
  const std::span frequencies(bias_->frequencies.const_data_ptr<float>(), static_cast<std::size_t>(bias_->frequencies.numel()));
  const std::vector<std::int64_t>& axis = bias_->rotary.frequency_axis;
  // One by one: a row is the same whatever it was added with, so that a cache that was kept is read as it was.
  const auto angle = [&](std::size_t i) {
    return static_cast<float>(position[i < axis.size() ? static_cast<std::size_t>(axis[i]) : 0]) * frequencies[i];
  };
  const std::size_t first = rows_.size();
  rows_.resize(first + static_cast<std::size_t>(units_ * kUnit));
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    std::int16_t* const cosine = rows_.data() + first + i / kPairs * kUnit + i % kPairs;
    cosine[0] = static_cast<std::int16_t>(std::lrint(kCodeOfOne * std::cos(angle(i))));
    cosine[kPairs] = static_cast<std::int16_t>(std::lrint(kCodeOfOne * std::sin(angle(i))));
  }
  positions_.insert(positions_.end(), position.begin(), position.end());
}

at::Tensor KeyRotations::positions(std::span<const std::int32_t> rotations) const {
  const std::int64_t axes = bias_->rotary.axes();
  const auto count = static_cast<std::int64_t>(rotations.size());
  at::Tensor positions = at::empty({axes, count}, at::kLong);
  auto* const to = positions.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto* const from = positions_.data() + rotations[static_cast<std::size_t>(i)] * axes;
    for (std::int64_t axis = 0; axis < axes; ++axis) to[axis * count + i] = from[axis];
  }
  return positions;
}

void KeyRotations::offsets(const float* bias, std::span<const std::int32_t> rotations, float* offsets) const {
  const std::int64_t half = bias_->frequencies.numel();
  for (const std::int32_t rotation : rotations) {
    const std::int16_t* unit = rows_.data() + rotation * units_ * kUnit;
    for (std::int64_t first = 0; first < half; first += kPairs, unit += kUnit) {
      for (std::int64_t i = first; i < std::min(first + kPairs, half); ++i) {
        const float cosine = step_ * static_cast<float>(unit[i - first]);
        const float sine = step_ * static_cast<float>(unit[kPairs + i - first]);
        offsets[i] = bias[i] * cosine - bias[half + i] * sine;
        offsets[half + i] = bias[half + i] * cosine + bias[i] * sine;
      }
    }
    offsets += 2 * half;
  }
}

}  // namespace winnow
