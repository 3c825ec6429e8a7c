#include "engine/recipes/method_info.h"
#include "engine/recipes/methods/registry.h"
#include "engine/recipes/recipe.h"

namespace winnow {

std::vector<MethodInfo> list_methods() {
  std::vector<MethodInfo> methods;
  for (const MethodEntry& entry : method_registry()) {
    MethodInfo info = entry.info();
    OptionReader options(entry.name, {}, 0);
    entry.compose(options);
    info.options = options.described();
    methods.push_back(std::move(info));
  }
  return methods;
}

std::string option_text(const OptionInfo& option) {
  if (option.words.empty()) return option.name + "=" + option.otherwise;
  std::string words;
  for (const std::string& word : option.words) words += (words.empty() ? "" : "|") + word;
  return option.name + "=" + words;
}

std::optional<Error> recipe_problem(const RecipeSpec& spec) {
  try {
    Recipe::from_spec(spec);
  } catch (const Exception& problem) {
    return problem.error();
  }
  return std::nullopt;
}

RecipeSpec with_measured_options(RecipeSpec spec, const MeasuredOptions& measured) {
  for (const MethodEntry& entry : method_registry()) {
    if (spec.method != entry.name) continue;
    OptionReader defaults(entry.name, {}, spec.seed);
    entry.compose(defaults);
    for (const OptionInfo& option : defaults.described()) {
      if (const auto found = measured.find(option.name); found != measured.end()) spec.options.insert(*found);
    }
  }
  return spec;
}

}  // namespace winnow
