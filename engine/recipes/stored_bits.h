// In how many bits a model's cache holds a number of K or V under a recipe.
//
// Used by whoever makes, counts or judges such a cache. Pure.
#pragma once

#include <algorithm>

#include "engine/recipes/model_traits.h"
#include "engine/recipes/recipe_spec.h"

namespace winnow {

inline int stored_bits(const RecipeSpec& recipe, const ModelTraits& model) {
  return recipe.kv_bits == 0 ? model.kv_bits : std::min(recipe.kv_bits, model.arithmetic_bits);
}

}  // namespace winnow
