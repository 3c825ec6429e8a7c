#include "app/evaluation/recipe_grid.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/compression/method_info.h"

namespace winnow::app {
namespace {

std::string shortNumber(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

}  // namespace

std::vector<NamedRecipe> recipeGrid(const std::vector<std::string>& methods, const std::vector<double>& retentions, const RecipeSpec& base) {
  const std::vector<MethodInfo> known = list_methods();
  std::vector<NamedRecipe> recipes;
  for (const std::string& method : methods) {
    if (std::none_of(known.begin(), known.end(), [&](const MethodInfo& info) { return info.name == method; })) {
      throw Exception(ErrorCode::kInvalidArgument, method, "is not a method (see: winnow-cli methods)");
    }
    NamedRecipe recipe{method, base};
    recipe.spec.method = method;
    if (method == "full") {
      recipe.spec.retention = 1.0;
      if (recipes.empty() || recipes.front().name != "full") recipes.insert(recipes.begin(), recipe);
      continue;
    }
    for (const double retention : retentions) {
      if (!(retention > 0.0 && retention <= 1.0)) throw Exception(ErrorCode::kInvalidArgument, shortNumber(retention), "is not a retention in (0, 1]");
      recipe.name = method + "@" + shortNumber(retention);
      recipe.spec.retention = retention;
      if (std::none_of(recipes.begin(), recipes.end(), [&](const NamedRecipe& other) { return other.name == recipe.name; })) recipes.push_back(recipe);
    }
  }
  if (recipes.empty()) throw Exception(ErrorCode::kInvalidArgument, "", "an evaluation needs a method and a retention");
  return recipes;
}

}  // namespace winnow::app
