// The compression presets, their options and parts as data, for lists, method cards and the recipe editor; and whether a recipe is legal.
//
// Used by the terminal program and, handed in by bootstrap, by the window. No torch. Threads: any.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/recipes/measured_options.h"
#include "engine/recipes/method_phase.h"
#include "engine/recipes/model_traits.h"
#include "engine/recipes/recipe_spec.h"

namespace winnow {

enum class OptionType : int { kWhole = 1, kReal = 2, kChoice = 3, kFlag = 4, kProfile = 5, kHeadTable = 6, kSentences = 7 };

// One option of a preset, as its reader asks for it.
struct OptionInfo {
  std::string name;
  OptionType type = OptionType::kWhole;
  std::string otherwise;           // the default, as text; empty: none (kProfile, kHeadTable, kSentences)
  std::vector<std::string> words;  // kChoice and kFlag, the default first
  double low = 0.0, high = 0.0;    // kWhole and kReal, both included
  bool odd = false;                // kWhole: odd numbers only
  bool operator==(const OptionInfo&) const = default;
};

// "window=32", "merge=average|pivot|drop".
std::string option_text(const OptionInfo& option);

// One compression preset, for lists and cards.
struct MethodInfo {
  std::string name;
  std::string title;
  std::string source;                      // paper or code
  MethodPhase phase = MethodPhase::kOnce;  // where no option is given
  bool query_aware = false;
  bool merges = false;
  std::vector<std::string> needs;   // the statistics that its parts ask for (method_list.cpp)
  std::vector<OptionInfo> options;  // in the order asked for, where none of them is given
};

std::vector<MethodInfo> list_methods();

// A preset's options, given the values of some: options that depend on another's value (clip needs event=clips) are listed only with it.
// Unreadable values count as not given. Errors: kIllegalRecipe if no such preset exists.
std::vector<OptionInfo> method_options(const std::string& method, const std::map<std::string, std::string>& given);

// A recipe's traits, by the parts that its method and options come to.
struct RecipeTraits : PhaseFacts {
  MethodPhase phase = MethodPhase::kOnce;
};
// Returns nullopt if no such method exists or its options cannot be read.
std::optional<RecipeTraits> describe(const RecipeSpec& spec);

// A part of a method that can be exchanged for another of its kind.
struct PartInfo {
  std::string kind;  // allocator, scorer, reducer, scope, granularity
  std::string name;
  std::vector<std::string> presets;  // that have it
};

std::vector<PartInfo> list_parts();

// Returns why this recipe cannot be built, or nullopt if it is legal. The error's subject names the setting (a field of RecipeSpec) or the
// method whose option it is; the reason is a sentence.
std::optional<Error> recipe_problem(const RecipeSpec& spec);
// The same with what was measured for a model, and of what that model cannot do.
std::optional<Error> recipe_problem(const RecipeSpec& spec, const ModelTraits& model);

// Adds what was measured for a model, for the preset that has such options, unless the recipe brings its own.
RecipeSpec with_measured_options(RecipeSpec spec, const MeasuredOptions& measured);

}  // namespace winnow
