#include "app/programs/cli/column_methods.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>

#include "engine/api/engine.h"

namespace winnow::cli {
namespace {

struct ColumnMethod {
  std::string name;
  std::optional<double> retention;
};

std::optional<ColumnMethod> parse(const std::string& text) {
  const std::size_t at = text.find('@');
  ColumnMethod column{text.substr(0, at), {}};
  if (at == std::string::npos) return column;
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data() + at + 1, end, value);
  if (problem != std::errc() || rest != end || !(value > 0.0 && value <= 1.0)) return std::nullopt;
  column.retention = value;
  return column;
}

std::optional<MethodInfo> method_named(const std::string& name) {
  for (MethodInfo& method : list_methods()) {
    if (method.name == name) return std::move(method);
  }
  return std::nullopt;
}

}  // namespace

std::string column_problem(const std::string& text) {
  const std::optional<ColumnMethod> column = parse(text);
  if (!column) return text + ": the number after @ must be above 0 and at most 1";
  if (!method_named(column->name)) return column->name + " is not a method; winnow-cli methods lists them";
  if (column->name == "full" && column->retention) return "full keeps everything and takes no retention";
  return {};
}

std::vector<RecipeSpec> column_recipes(const TurnOptions& options, const std::vector<std::string>& columns) {
  std::vector<RecipeSpec> recipes;
  std::map<std::string, std::string> unused = options.recipe.options;
  for (const std::string& text : columns) {
    const ColumnMethod column = parse(text).value();
    const MethodInfo method = method_named(column.name).value();
    TurnOptions own = options;
    RecipeSpec& recipe = own.recipe;
    recipe.method = column.name;
    if (column.retention) {
      recipe.retention = *column.retention;
      recipe.budget_tokens.reset();
    }
    if (column.name == "full") {
      for (const PartSetting& part : kPartSettings) (recipe.*part.name).clear();
    }
    std::erase_if(recipe.options, [&](const auto& option) {
      return std::none_of(method.options.begin(), method.options.end(),
                          [&](const OptionInfo& known) { return known.name == option.first; });
    });
    std::erase_if(unused, [&](const auto& option) { return recipe.options.contains(option.first); });
    recipes.push_back(recipe_of(own));
  }
  if (!unused.empty()) {
    throw Exception(ErrorCode::kIllegalRecipe, "--method-option",
                    "no compared method has the option " + unused.begin()->first + "=" + unused.begin()->second);
  }
  return recipes;
}

std::string column_label(const RecipeSpec& recipe) {
  if (keeps_everything(recipe)) return recipe.method;
  if (recipe.budget_tokens) return recipe.method + "@" + std::to_string(*recipe.budget_tokens) + " slots";
  char share[32];
  std::snprintf(share, sizeof share, "@%g", recipe.retention);
  return recipe.method + share;
}

}  // namespace winnow::cli
