// The recipes of an evaluation: methods and saved recipes x retentions, named as the tables name them.
//
// Used by the terminal's eval. Errors: Exception(kInvalidArgument) for what no method or share can be and for two recipes of one name,
// kIllegalRecipe for a saved recipe that cannot work. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "app/recipes/recipe_json.h"
#include "engine/recipes/recipe_spec.h"

namespace winnow::app {

struct GridRecipe {
  std::string name;   // of its answers in the log: "vl-cache@0.1"; "full"; "mine#3f2a90@0.1", which tells a changed file from the first one
  std::string title;  // of its row: the method's name, or the saved recipe's
  RecipeSpec spec;
};

// `full` keeps everything: it appears once and comes first, wherever it stands in `methods`. Saved recipes get the retentions instead of
// their own.
std::vector<GridRecipe> recipeGrid(const std::vector<std::string>& methods, const std::vector<double>& retentions,
                                   const std::vector<NamedRecipe>& saved = {});

}  // namespace winnow::app
