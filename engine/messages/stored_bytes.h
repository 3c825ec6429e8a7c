// Bytes of a token in a model's KV cache under a recipe: Planned::kv_bytes_per_token without a plan.
//
// Used by ui before anything is planned. Threads: any.
#pragma once

#include <cstdint>

#include "engine/models/model_info.h"
#include "engine/recipes/recipe_spec.h"
#include "engine/recipes/stored_bits.h"
#include "kernels/api/narrow_rows.h"

namespace winnow {

// K and V in all layers, scales included.
inline std::int64_t stored_token_bytes(const ModelInfo& model, const RecipeSpec& recipe) {
  const int bits = stored_bits(recipe, model.traits);
  const std::int64_t row = bits == 8   ? kernels::narrow_row_bytes(kernels::RowCodes::kInt8, model.head_dim)
                           : bits == 4 ? kernels::narrow_row_bytes(kernels::RowCodes::kInt4, model.head_dim)
                                       : model.head_dim * bits / 8;
  return model.layers * model.kv_heads * 2 * row;
}

}  // namespace winnow
