// What might have been measured for a model, for presets that need it, in tests that run over all presets.
#pragma once

#include <cstdint>

#include <utility>

#include "engine/recipes/measured_options.h"
#include "engine/recipes/method_info.h"

namespace winnow::test_support {

// Different for every layer and head.
inline MeasuredOptions measured_options(std::int64_t layers, std::int64_t kv_heads) {
  ShareProfile profile = {{0.2, {}}, {0.5, {}}};
  HeadTable heads;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const double depth = static_cast<double>(layer) / static_cast<double>(layers);
    profile[0].shares.push_back(0.3 - 0.2 * depth);
    profile[1].shares.push_back(0.7 - 0.4 * depth);
    std::vector<double>& scores = heads.emplace_back();
    for (std::int64_t head = 0; head < kv_heads; ++head)
      scores.push_back(static_cast<double>((5 * layer + 3 * head) % 7 + 1) / 10.0 + 0.01 * depth);
  }
  return {{kLayerProfileOption, profile_text(profile)}, {kHeadTableOption, head_table_text(heads)}};
}

// The recipe as a model of this shape would be asked for it.
inline RecipeSpec as_measured(RecipeSpec spec, std::int64_t layers, std::int64_t kv_heads) {
  return with_measured_options(std::move(spec), measured_options(layers, kv_heads));
}

}  // namespace winnow::test_support
