// The shape of the caches that turns of a recipe are answered from: the model's, stored as the recipe says.
//
// Used wherever engine/generation begins a conversation, and to see whether one goes on. Pure.
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
  return bits < traits.arithmetic_bits ? KvStorage::kHalf : KvStorage::kWide;
}

inline KvShape cache_shape(const VisionLanguageModel& network, const RecipeSpec& recipe) {
  KvShape shape = network.text().kv_shape();
  shape.storage = storage_of(network, recipe);
  return shape;
}

}  // namespace winnow
