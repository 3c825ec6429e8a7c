#include <algorithm>

#include "engine/recipes/method_info.h"
#include "engine/recipes/methods/registry.h"
#include "engine/recipes/recipe.h"
#include "engine/recipes/statistics_words.h"

namespace winnow {

std::vector<MethodInfo> list_methods() {
  std::vector<MethodInfo> methods;
  for (const Method* method : method_registry()) {
    OptionReader options(method->name, {}, 0);
    const Composition composition = method->compose(options);
    MethodInfo info;
    info.name = method->name;
    info.title = method->title;
    info.source = method->source;
    info.phase = composition.phase;
    info.query_aware = method->query_aware;
    info.merges = composition.reducer->merges();
    info.needs = statistics_words(composition);
    info.options = options.described();
    methods.push_back(std::move(info));
  }
  return methods;
}

std::optional<RecipeTraits> describe(const RecipeSpec& spec) {
  MethodPhase phase{};
  try {
    OptionReader options(spec.method, spec.options, spec.seed);
    phase = find_method(spec.method).compose(options).phase;
  } catch (const Exception&) {
    return std::nullopt;
  }
  return RecipeTraits{phase_facts(phase), phase};
}

std::vector<OptionInfo> method_options(const std::string& method, const std::map<std::string, std::string>& given) {
  const Method& entry = find_method(method);
  OptionTexts readable = given;
  for (;;) {
    OptionReader options(entry.name, readable, 0);
    try {
      entry.compose(options);
      return options.described();
    } catch (const Exception&) {
      if (readable.empty()) throw;
      // The option that was asked for last cannot be read, or not beside the others.
      if (options.described().empty() || readable.erase(options.described().back().name) == 0) readable.clear();
    }
  }
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

std::optional<Error> recipe_problem(const RecipeSpec& spec, const ModelTraits& model) {
  const RecipeSpec measured = with_measured_options(spec, model.measured);
  if (std::optional<Error> problem = recipe_problem(measured)) return problem;
  return Recipe::from_spec(measured).misfit(model);
}

RecipeSpec with_measured_options(RecipeSpec spec, const MeasuredOptions& measured) {
  const auto known = [&](const Method* method) { return spec.method == method->name; };
  if (std::ranges::none_of(method_registry(), known)) return spec;
  for (const OptionInfo& option : method_options(spec.method, spec.options)) {
    if (const auto found = measured.find(option.name); found != measured.end()) spec.options.insert(*found);
  }
  return spec;
}

}  // namespace winnow
