// The recipes of an evaluation: methods and saved recipes x retentions, named as the tables name them.
//
// Used by the terminal's eval. Errors: Exception(kInvalidArgument) for what no method or share can be and for two recipes of one name,
// kIllegalRecipe for a saved recipe that cannot work. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/recipes/recipe_json.h"
#include "engine/messages/requests.h"
#include "engine/recipes/recipe_spec.h"

namespace winnow::app {

struct GridRecipe {
  std::string name;   // of its answers in the log: "vl-cache@0.1"; "full"; "mine#3f2a90@0.1", which tells a changed file from the first one
  std::string title;  // of its row: the method's name, or the saved recipe's
  RecipeSpec spec;
  // How questions of one cluster are asked. Nothing: each for itself, beside other recipes; alone: each alone, all of them from the cache
  // that was compressed once before the first; keep: one conversation, the later ones about what the first left.
  std::optional<Guard> together = {};
};

// `full` keeps everything: it appears once and comes first, wherever it stands in `methods`. Saved recipes get the retentions instead of
// their own.
std::vector<GridRecipe> recipeGrid(const std::vector<std::string>& methods, const std::vector<double>& retentions,
                                   const std::vector<NamedRecipe>& saved = {});

// Whose question a method that compresses after it may go by, where several are asked.
enum class JudgedBy : int { kItsOwn = 1, kTheFirst = 2 };

// The same recipes as questions about documents are asked under them: those that compress before a question together and alone; the others
// each for itself, or as "snapkv, first question" in one conversation ("full, conversation"), or both ways.
std::vector<GridRecipe> documentGrid(const std::vector<GridRecipe>& recipes, const std::vector<JudgedBy>& judgedBy);

}  // namespace winnow::app
