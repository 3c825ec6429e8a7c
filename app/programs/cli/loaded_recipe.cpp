#include "app/programs/cli/loaded_recipe.h"

#include <string>

#include "engine/base/error.h"

namespace winnow::cli {
namespace {

bool same_budget(const RecipeSpec& a, const RecipeSpec& b) { return a.retention == b.retention && a.budget_tokens == b.budget_tokens; }

bool same_but_for_the_seed(RecipeSpec a, const RecipeSpec& b) {
  a.seed = b.seed;
  return a == b;
}

// True if the file was made with what this option asks for; true for options that say nothing of the recipe.
bool agrees(const std::string& option, const RecipeSpec& asked, const RecipeSpec& made) {
  if (option == "--recipe") return same_but_for_the_seed(asked, made);
  if (option == "--method") return asked.method == made.method;
  if (option == "--retention" || option == "--budget") return same_budget(asked, made);
  if (option == "--method-option") return asked.options == made.options;
  if (option == "--turn-policy") return asked.turn_policy == made.turn_policy;
  for (const WholeSetting& setting : kWholeSettings) {
    if (option == option_of(setting.name)) return asked.*setting.value == made.*setting.value;
  }
  for (const PartSetting& part : kPartSettings) {
    if (option == option_of(part.kind)) return asked.*part.name == made.*part.name;
  }
  return true;
}

}  // namespace

void require_recipe_of_file(const TurnOptions& options, const RecipeSpec& made) {
  const RecipeSpec asked = recipe_of(options);
  for (const std::string& option : options.given) {
    if (agrees(option, asked, made)) continue;
    throw Exception(
        ErrorCode::kInvalidArgument, options.load_cache,
        "was made with another " + option + " (its method is " + made.method + "): leave the option out, or ask without --load-cache");
  }
}

}  // namespace winnow::cli
