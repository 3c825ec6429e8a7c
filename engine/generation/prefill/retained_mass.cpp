#include "engine/generation/prefill/retained_mass.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace winnow {
namespace {

constexpr std::array<double, 20> kShares = {0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3,
                                            0.35, 0.4,  0.45, 0.5,  0.6,  0.7, 0.8,  0.9, 0.95, 1.0};

// Sign, exponent and five bits of the mantissa: scores within 1/32 of each other share a class.
constexpr int kClassShift = 32 - 14;
constexpr std::size_t kClasses = std::size_t{1} << 13;  // of nonnegative floats

struct Class {
  std::int64_t count = 0;
  double sum = 0.0;
};

// Adds the share of the scores' sum that the best so many of them hold. rows: which compete; null: all.
void add_mass(std::span<const float> scores, const std::vector<std::int32_t>* rows, std::vector<Class>& classes,
              std::array<double, kShares.size()>& mass) {
  classes.assign(kClasses, Class());
  const std::size_t count = rows != nullptr ? rows->size() : scores.size();
  double total = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const float raw = scores[rows != nullptr ? static_cast<std::size_t>((*rows)[i]) : i];
    const float score = std::isfinite(raw) && raw > 0.0F ? raw : 0.0F;
    Class& own = classes[std::bit_cast<std::uint32_t>(score) >> kClassShift];
    ++own.count;
    own.sum += score;
    total += score;
  }
  std::size_t at = kClasses;
  double counted = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    const double wanted = std::round(kShares[i] * static_cast<double>(count));
    while (at > 0 && counted + static_cast<double>(classes[at - 1].count) <= wanted) {
      --at;
      counted += static_cast<double>(classes[at].count);
      sum += classes[at].sum;
    }
    // The class on the border gives a part: its scores are nearly alike.
    double with_part = sum;
    if (at > 0 && classes[at - 1].count > 0)
      with_part += classes[at - 1].sum * (wanted - counted) / static_cast<double>(classes[at - 1].count);
    mass[i] += total > 0.0 ? with_part / total : kShares[i];
  }
}

}  // namespace

std::vector<RetainedMass> retained_mass(const SegmentCompressor& compressor) {
  if (!compressor.will_compress() || !compressor.has_scores()) return {};
  std::array<double, kShares.size()> mass{};
  std::vector<Class> classes;
  double rankings = 0.0;
  const SegmentInfo& segment = compressor.segment();
  const Scope scope = compressor.recipe().composition().scope;
  for (LayerId layer{0}; layer < segment.layers; ++layer) {
    for (KvHead head{0}; head < segment.kv_heads; ++head) {
      const Candidates& rows = compressor.candidates(layer, head);
      const std::vector<std::int32_t>* const competing = scope == Scope::kVisual    ? &rows.visual
                                                         : scope == Scope::kContext ? &rows.context
                                                                                    : nullptr;
      add_mass(compressor.scores(layer, head), competing, classes, mass);
    }
    rankings += static_cast<double>(segment.kv_heads);
  }
  std::vector<RetainedMass> points;
  for (std::size_t i = 0; i < kShares.size(); ++i) points.push_back({kShares[i], mass[i] / rankings});
  return points;
}

}  // namespace winnow
