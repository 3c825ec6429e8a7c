// The recipes of an evaluation: methods x retentions, named as the tables name them.
//
// Used by the terminal's eval. Errors: Exception(kInvalidArgument) for what no method or share can be. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/compression/recipe_spec.h"

namespace winnow::app {

struct NamedRecipe {
  std::string name;  // "vl-cache@0.1"; "full"
  RecipeSpec spec;
};

// `full` keeps everything: it appears once and comes first, wherever it stands in `methods`. `base` gives everything but method and
// retention.
std::vector<NamedRecipe> recipeGrid(const std::vector<std::string>& methods, const std::vector<double>& retentions, const RecipeSpec& base = {});

}  // namespace winnow::app
