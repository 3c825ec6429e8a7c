// The cache shape for a recipe: the model's, with the recipe's KV cache dtype.
//
// Used where engine/generation starts a conversation or checks whether one can be continued. Pure.
#pragma once

#include "engine/kv_cache/kv_cache.h"
#include "engine/models/vision_language_model.h"
#include "engine/recipes/recipe_spec.h"
#include "engine/recipes/stored_bits.h"

namespace winnow {

inline KvStorage storage_of(const VisionLanguageModel& network, const RecipeSpec& recipe) {
  const ModelTraits& traits = network.info().traits;
  const int bits = stored_bits(recipe, traits);
  if (bits == 8) return KvStorage::kInt8;
  if (bits == 4) return KvStorage::kInt4;
  return bits < traits.arithmetic_bits ? KvStorage::kHalf : KvStorage::kWide;
}

inline KvShape cache_shape(const VisionLanguageModel& network, const RecipeSpec& recipe) {
  KvShape shape = network.text().kv_shape();
  shape.store_in(storage_of(network, recipe));
  return shape;
}

}  // namespace winnow
