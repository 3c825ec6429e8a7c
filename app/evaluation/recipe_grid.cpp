#include "app/evaluation/recipe_grid.h"

#include <QCryptographicHash>
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "engine/base/error.h"
#include "engine/recipes/method_info.h"

namespace winnow::app {
namespace {

std::string shortNumber(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

// Everything of a recipe but its name and share, in six hexadecimal digits.
std::string recipeFingerprint(RecipeSpec spec) {
  spec.retention = 1.0;
  const std::string json = recipeToJson({"", std::move(spec)}, -1);
  return QCryptographicHash::hash(QByteArrayView(json.data(), static_cast<qsizetype>(json.size())), QCryptographicHash::Sha256)
      .toHex()
      .first(6)
      .toStdString();
}

class Grid {
 public:
  explicit Grid(const std::vector<double>& retentions) : m_retentions(retentions) {
    for (const double retention : retentions) {
      if (!(retention > 0.0 && retention <= 1.0))
        throw Exception(ErrorCode::kInvalidArgument, shortNumber(retention), "is not a retention in (0, 1]");
    }
  }
  void add(const std::string& key, const std::string& title, RecipeSpec spec) {
    if (keeps_everything(spec)) {
      if (recipes.empty() || recipes.front().name != "full") recipes.insert(recipes.begin(), {"full", "full", with_its_share(spec)});
      return;
    }
    for (const double retention : m_retentions) {
      spec.retention = retention;
      const std::string name = key + "@" + shortNumber(retention);
      if (std::none_of(recipes.begin(), recipes.end(), [&](const GridRecipe& other) { return other.name == name; }))
        recipes.push_back({name, title, spec});
    }
  }
  std::vector<GridRecipe> recipes;

 private:
  const std::vector<double>& m_retentions;
};

}  // namespace

std::vector<GridRecipe> recipeGrid(const std::vector<std::string>& methods, const std::vector<double>& retentions,
                                   const std::vector<NamedRecipe>& saved) {
  std::vector<std::string> titles;
  for (const MethodInfo& info : list_methods()) titles.push_back(info.name);
  Grid grid(retentions);
  for (const std::string& method : methods) {
    if (std::find(titles.begin(), titles.end(), method) == titles.end())
      throw Exception(ErrorCode::kInvalidArgument, method, "is not a method (see: winnow-cli methods)");
    RecipeSpec spec;
    spec.method = method;
    grid.add(method, method, spec);
  }
  for (const NamedRecipe& recipe : saved) {
    if (recipe.name.empty()) throw Exception(ErrorCode::kInvalidArgument, "", "a recipe needs a name to stand in a table");
    if (std::find(titles.begin(), titles.end(), recipe.name) != titles.end())
      throw Exception(ErrorCode::kInvalidArgument, recipe.name, "is the name of two recipes");
    if (recipe.spec.budget_tokens)
      throw Exception(ErrorCode::kInvalidArgument, recipe.name, "has a budget in slots; an evaluation gives every recipe the same shares");
    if (const std::optional<Error> problem = recipe_problem(recipe.spec)) throw Exception(*problem);
    titles.push_back(recipe.name);
    grid.add(recipe.name + "#" + recipeFingerprint(recipe.spec), recipe.name, recipe.spec);
  }
  if (grid.recipes.empty()) throw Exception(ErrorCode::kInvalidArgument, "", "an evaluation needs a method and a retention");
  return std::move(grid.recipes);
}

std::vector<GridRecipe> documentGrid(const std::vector<GridRecipe>& recipes, const std::vector<JudgedBy>& judgedBy) {
  const auto wanted = [&](JudgedBy question) { return std::find(judgedBy.begin(), judgedBy.end(), question) != judgedBy.end(); };
  std::vector<GridRecipe> grid;
  for (const GridRecipe& recipe : recipes) {
    const std::optional<RecipeTraits> traits = describe(recipe.spec);
    require(traits.has_value(), "a grid of recipes that can be read");
    if (traits->before_question) {
      grid.push_back(recipe);
      grid.back().together = Guard::kAlone;
      continue;
    }
    const bool full = keeps_everything(recipe.spec);
    if (full || wanted(JudgedBy::kItsOwn)) grid.push_back(recipe);
    if (!wanted(JudgedBy::kTheFirst)) continue;
    const std::string way = full ? ", conversation" : ", first question";
    GridRecipe first = recipe;
    first.title += way;
    first.name.insert(std::min(first.name.rfind('@'), first.name.size()), way);
    first.together = Guard::kKeep;
    grid.push_back(std::move(first));
  }
  // Beside others that are asked each for itself it costs nothing: they share a prefill. Alone it would read a document for every question.
  const auto forItself = [](const GridRecipe& recipe) { return !recipe.together; };
  if (std::count_if(grid.begin(), grid.end(), forItself) != 1) return grid;
  const auto only = std::find_if(grid.begin(), grid.end(), forItself);
  if (keeps_everything(only->spec)) only->together = Guard::kAlone;
  return grid;
}

}  // namespace winnow::app
