// Builds compositions by name: a preset, with parts replaced by those of other presets.
//
// Used by Recipe and by the lists of methods and parts. A part is named by its own name ("sparsity") or by a preset that has it
// ("vl-cache"); it comes with that preset's default options, a reducer by its own name with those of reducers/registry.h. Errors:
// kIllegalRecipe naming the setting and what is known. No torch.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/recipe_spec.h"

namespace winnow {

Composition compose(const RecipeSpec& spec);

}  // namespace winnow
