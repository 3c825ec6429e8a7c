#include "engine/models/config/rotary_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"

namespace winnow {
namespace {

constexpr double kMaxTheta = 1e12;
constexpr double kMaxFactor = 1e6;
constexpr double kMinFactor = 1e-6;
constexpr std::size_t kAxes = 3;  // of positions that have several: time, height, width

// The rotary part of a configuration, from whichever object says it.
struct RopeFields {
  JsonObject object;
  std::int64_t head_dim;
  double theta;
  std::int64_t max_positions;
  std::int64_t original_positions;

  std::size_t pairs() const { return static_cast<std::size_t>(head_dim) / 2; }
  // Before scaling, 1 / theta^(2i / d).
  double frequency(std::size_t pair) const { return std::pow(theta, -2.0 * static_cast<double>(pair) / static_cast<double>(head_dim)); }
  double factor() const { return object.real("factor", kMinFactor, kMaxFactor); }
};

// Slow rotations are divided by the factor, fast ones stay, those between go over from one to the other (transformers'
// _compute_llama3_parameters).
std::vector<double> llama3_divisors(const RopeFields& rope) {
  const double factor = rope.factor();
  const double low = rope.object.real("low_freq_factor", kMinFactor, kMaxFactor);
  const double high = rope.object.real("high_freq_factor", kMinFactor, kMaxFactor);
  if (high <= low) rope.object.refuse(ErrorCode::kDamagedFile, "high_freq_factor", "it must be over low_freq_factor");
  const auto original = static_cast<double>(rope.original_positions);
  std::vector<double> divisors;
  for (std::size_t pair = 0; pair < rope.pairs(); ++pair) {
    const double wave = 2.0 * std::numbers::pi / rope.frequency(pair);
    const double smooth = std::clamp((original / wave - low) / (high - low), 0.0, 1.0);
    divisors.push_back(1.0 / ((1.0 - smooth) / factor + smooth));
  }
  return divisors;
}

// Peng et al., "YaRN", arXiv 2309.00071; transformers' _compute_yarn_parameters.
RotaryScheme yarn(const RopeFields& rope) {
  const auto original = static_cast<double>(rope.original_positions);
  const double factor = rope.object.real("factor", kMinFactor, kMaxFactor, static_cast<double>(rope.max_positions) / original);
  const double fast = rope.object.real("beta_fast", kMinFactor, kMaxFactor, 32.0);
  const double slow = rope.object.real("beta_slow", kMinFactor, kMaxFactor, 1.0);
  if (rope.theta <= 1.0) rope.object.refuse(ErrorCode::kDamagedFile, "rope_theta", "YaRN needs a base over 1");
  const double head_dim = static_cast<double>(rope.head_dim);
  const auto pair_of = [&](double rotations) {
    return head_dim * std::log(original / (rotations * 2.0 * std::numbers::pi)) / (2.0 * std::log(rope.theta));
  };
  double low = pair_of(fast);
  double high = pair_of(slow);
  if (rope.object.boolean("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, head_dim - 1.0);
  if (low == high) high += 0.001;
  RotaryScheme scheme{rope.theta};
  for (std::size_t pair = 0; pair < rope.pairs(); ++pair) {
    const double interpolated = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
    scheme.divisors.push_back(1.0 / (interpolated / factor + (1.0 - interpolated)));
  }
  const auto magnitude = [&](double weight) { return factor <= 1.0 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0; };
  if (rope.object.has("attention_factor")) {
    scheme.magnitude = rope.object.real("attention_factor", kMinFactor, kMaxFactor);
  } else if (rope.object.real("mscale", 0.0, kMaxFactor, 0.0) > 0.0 && rope.object.real("mscale_all_dim", 0.0, kMaxFactor, 0.0) > 0.0) {
    scheme.magnitude =
        magnitude(rope.object.real("mscale", 0.0, kMaxFactor)) / magnitude(rope.object.real("mscale_all_dim", 0.0, kMaxFactor));
  } else {
    scheme.magnitude = magnitude(1.0);
  }
  return scheme;
}

// Ding et al., "LongRoPE", arXiv 2402.13753; transformers' _compute_longrope_parameters, up to the original length.
RotaryScheme longrope(const RopeFields& rope) {
  const std::int64_t original = rope.original_positions;
  if (original < 2) rope.object.refuse(ErrorCode::kDamagedFile, "original_max_position_embeddings", "it must be 2 or more");
  RotaryScheme scheme{rope.theta};
  scheme.divisors = rope.object.reals("short_factor", kMinFactor, kMaxFactor, rope.pairs());
  if (scheme.divisors.size() != rope.pairs()) {
    rope.object.refuse(ErrorCode::kDamagedFile, "short_factor", "it must have one factor for each pair of a head");
  }
  const double factor =
      rope.object.real("factor", kMinFactor, kMaxFactor, static_cast<double>(rope.max_positions) / static_cast<double>(original));
  const double stretched = factor <= 1.0 ? 1.0 : std::sqrt(1.0 + std::log(factor) / std::log(static_cast<double>(original)));
  scheme.magnitude = rope.object.real("attention_factor", kMinFactor, kMaxFactor, stretched);
  return scheme;
}

// The positions that a model was trained with, before they were stretched. transformers lets the configuration itself say it, before its
// rotary part.
std::int64_t original_positions_of(const JsonObject& rope, const JsonObject& text, std::int64_t max_positions) {
  const char* const key = "original_max_position_embeddings";
  return text.integer(key, 1, kMaxPositions, rope.integer(key, 1, kMaxPositions, max_positions));
}

std::int64_t positions_of(const std::string& kind, const JsonObject& rope, const JsonObject& text, std::int64_t max_positions) {
  const std::int64_t original = original_positions_of(rope, text, max_positions);
  if (kind == "longrope" || kind == "su") return std::min(max_positions, original);
  // Vicuna's and LongChat's long models still count the positions of the Llama that they were, and how far they go beside it.
  if (kind == "linear") return std::max(max_positions, text.integer("max_sequence_length", 1, kMaxPositions, max_positions));
  if (kind != "yarn") return max_positions;
  // Qwen3 counts what it was trained with and room for an answer; whoever switches YaRN on adds a factor and leaves that as it is.
  const double stretched = static_cast<double>(original) * rope.real("factor", kMinFactor, kMaxFactor, 1.0);
  return std::clamp(static_cast<std::int64_t>(stretched), max_positions, std::max(max_positions, kMaxPositions));
}

RotaryConfig scaled(const RopeFields& rope, const std::string& kind, const JsonObject& text) {
  RotaryConfig config{{rope.theta}, positions_of(kind, rope.object, text, rope.max_positions)};
  if (kind == "default" || kind == "dynamic") return config;
  if (kind == "linear") {
    config.scheme.divisors.assign(rope.pairs(), rope.factor());
  } else if (kind == "llama3") {
    config.scheme.divisors = llama3_divisors(rope);
  } else if (kind == "yarn") {
    config.scheme = yarn(rope);
  } else if (kind == "longrope" || kind == "su") {
    config.scheme = longrope(rope);
  } else {
    unsupported(rope.object, "rope_type", quoted_name(kind) + " is not a way of scaling positions that this program knows");
  }
  return config;
}

std::string kind_of(const std::optional<JsonObject>& rope) {
  return rope ? rope->string("rope_type", kMaxNameBytes, rope->string("type", kMaxNameBytes, "default")) : "default";
}

std::optional<JsonObject> rope_object(const JsonObject& text) {
  std::optional<JsonObject> rope = text.optional_object("rope_parameters");
  return rope ? rope : text.optional_object("rope_scaling");
}

// partial_rotary_factor: the share of a head that is rotated; transformers cuts it to whole elements. Files of transformers 4 say it beside
// rope_scaling.
std::int64_t read_rotated(const JsonObject& rope, const JsonObject& text, std::int64_t head_dim, const RotaryDefaults& defaults) {
  const char* const key = "partial_rotary_factor";
  const JsonObject& object = rope.has(key) ? rope : text;
  const double share = object.real(key, 0.0, 1.0, defaults.rotated);
  if (share == 1.0) return head_dim;
  if (defaults.rotated == 1.0) unsupported(object, key, "partial rotary positions are not implemented for this model");
  const auto rotated = static_cast<std::int64_t>(static_cast<double>(head_dim) * share);
  if (rotated < 2 || rotated % 2 != 0) object.refuse(ErrorCode::kDamagedFile, key, "whole pairs of a head must be rotated");
  return rotated;
}

// mrope_section: frequencies of each axis.
std::vector<std::int64_t> read_sections(const JsonObject& object, std::int64_t head_dim) {
  std::vector<std::int64_t> sections = object.integers("mrope_section", 1, head_dim, kAxes);
  if (sections.size() != kAxes || std::accumulate(sections.begin(), sections.end(), std::int64_t{0}) != head_dim / 2) {
    object.refuse(ErrorCode::kDamagedFile, "mrope_section",
                  "it must have three sections, which are " + std::to_string(head_dim / 2) + " frequencies together");
  }
  return sections;
}

}  // namespace

std::int64_t scaled_positions(const JsonObject& text, std::int64_t max_positions) {
  const std::optional<JsonObject> rope = rope_object(text);
  return rope ? positions_of(kind_of(rope), *rope, text, max_positions) : max_positions;
}

RotaryConfig read_rotary(const JsonObject& text, std::int64_t head_dim, std::int64_t max_positions, const RotaryDefaults& defaults) {
  RotaryDefaults here = defaults;
  here.theta = text.real("rope_theta", 1.0, kMaxTheta, defaults.theta);
  return read_rotary_of(text, rope_object(text), head_dim, max_positions, here);
}

RotaryConfig read_rotary_of(const JsonObject& text, const std::optional<JsonObject>& rope, std::int64_t head_dim,
                            std::int64_t max_positions, const RotaryDefaults& defaults) {
  const JsonObject& object = rope ? *rope : text;
  const double theta = rope ? rope->real("rope_theta", 1.0, kMaxTheta, defaults.theta) : defaults.theta;
  const std::int64_t rotated = read_rotated(object, text, head_dim, defaults);
  std::string kind = kind_of(rope);
  if (kind == "mrope" && defaults.sections) kind = "default";
  RotaryConfig config = scaled({object, rotated, theta, max_positions, original_positions_of(object, text, max_positions)}, kind, text);
  if (rotated < head_dim) config.scheme.rotated = rotated;
  return config;
}

std::int64_t rotated_elements(const RotaryScheme& scheme, std::int64_t head_dim) { return scheme.rotated == 0 ? head_dim : scheme.rotated; }

std::vector<std::int64_t> read_rotary_sections(const JsonObject& text, std::int64_t head_dim) {
  const std::optional<JsonObject> rope = rope_object(text);
  const std::vector<std::int64_t> sections = read_sections(rope ? *rope : text, head_dim);
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < sections.size(); ++axis)
    axes.insert(axes.end(), static_cast<std::size_t>(sections[axis]), static_cast<std::int64_t>(axis));
  return axes;
}

std::vector<std::int64_t> read_alternating_sections(const JsonObject& text, std::int64_t rotated) {
  const std::optional<JsonObject> rope = rope_object(text);
  const JsonObject& object = rope ? *rope : text;
  const auto defaults = rotated == 64 ? std::vector<std::int64_t>{11, 11, 10} : std::vector<std::int64_t>{24, 20, 20};
  const bool known = object.has("mrope_section") || (rotated != 128 && rotated != 64);
  const std::vector<std::int64_t> sections = known ? read_sections(object, rotated) : defaults;
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rotated / 2), 0);
  for (std::size_t axis = 1; axis < kAxes; ++axis) {
    const std::int64_t end = std::min<std::int64_t>(std::ssize(axes), sections[axis] * static_cast<std::int64_t>(kAxes));
    for (auto frequency = static_cast<std::int64_t>(axis); frequency < end; frequency += static_cast<std::int64_t>(kAxes))
      axes[static_cast<std::size_t>(frequency)] = static_cast<std::int64_t>(axis);
  }
  return axes;
}

}  // namespace winnow
