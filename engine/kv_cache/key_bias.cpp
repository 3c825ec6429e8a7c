#include "engine/kv_cache/key_bias.h"

#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr unsigned kAxisBits = 21;
constexpr std::int64_t kMostAxes = 3;

std::optional<std::uint64_t> packed(const std::vector<std::int64_t>& position) {
  std::uint64_t all = 0;
  for (const std::int64_t each : position) {
    if (each < 0 || each >= std::int64_t{1} << kAxisBits) return std::nullopt;
    all = all << kAxisBits | static_cast<std::uint64_t>(each);
  }
  return all;
}

}  // namespace

KeyRotations::KeyRotations(std::shared_ptr<const KeyBias> bias) : bias_(std::move(bias)) {
  require(bias_->rotary.axes() <= kMostAxes, "KeyRotations: a position has at most three axes");
  rows_.resize(static_cast<std::size_t>(2 * bias_->frequencies.numel()), 0.0F);
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
  const auto magnitude = static_cast<float>(bias_->rotary.magnitude);
  // One by one: a row is the same whatever it was added with, so that a cache that was kept is read as it was.
  const auto angle = [&](std::size_t i) {
    return static_cast<float>(position[axis.empty() ? 0 : static_cast<std::size_t>(axis[i])]) * frequencies[i];
  };
  for (std::size_t i = 0; i < frequencies.size(); ++i) rows_.push_back(magnitude * std::cos(angle(i)));
  for (std::size_t i = 0; i < frequencies.size(); ++i) rows_.push_back(magnitude * std::sin(angle(i)));
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
    const float* const cosine = rows_.data() + rotation * 2 * half;
    const float* const sine = cosine + half;
    for (std::int64_t i = 0; i < half; ++i) {
      offsets[i] = bias[i] * cosine[i] - bias[half + i] * sine[i];
      offsets[half + i] = bias[half + i] * cosine[i] + bias[i] * sine[i];
    }
    offsets += 2 * half;
  }
}

}  // namespace winnow
