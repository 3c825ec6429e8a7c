// What a token takes in the KV cache of a model under a recipe, told from what is known of a loaded model: Planned::kv_bytes_per_token
// without a plan.
//
// Used by ui where nothing is planned yet. Threads: any.
#pragma once

#include <cstdint>

#include "engine/models/model_info.h"
#include "engine/recipes/recipe_spec.h"
#include "kernels/api/narrow_rows.h"

namespace winnow {

// K and V in all layers, scales included.
inline std::int64_t stored_token_bytes(const ModelInfo& model, const RecipeSpec& recipe) {
  if (recipe.kv_bits != 8) return model.kv_bytes_per_token;
  return model.layers * model.kv_heads * 2 * kernels::narrow_row_bytes(model.head_dim);
}

}  // namespace winnow
