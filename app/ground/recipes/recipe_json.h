// A compression recipe with a name, as a person saves it, and its JSON: what files, settings and stored chats hold.
//
// Used by app/chats/chat, app/chats/settings, the terminal program and ui. The format is resources/recipe.schema.json; every field of
// RecipeSpec is written, so what is read equals what was written. Reading checks the form only; whether the recipe is legal is the engine's
// to say (recipe_problem). Errors: winnow::Exception(kFileNotFound, kFileUnreadable, kFileUnwritable, kLimitExceeded, kDamagedFile),
// subject = the file, reason names the field. Threads: any.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recipes/recipe_spec.h"

namespace winnow::app {

struct NamedRecipe {
  std::string name{};  // UTF-8, at most kMaxRecipeName bytes; empty: a preset, or a mixture that was not saved
  RecipeSpec spec{};

  friend bool operator==(const NamedRecipe&, const NamedRecipe&) = default;
};

inline constexpr std::size_t kMaxRecipeName = 240;
inline constexpr std::size_t kMaxRecipeBytes = std::size_t{1} << 20;  // of a file
inline constexpr std::size_t kMaxSavedRecipes = 200;

// indent: spaces; negative: one line.
std::string recipeToJson(const NamedRecipe& recipe, int indent);
// `source` is named by errors: a file, or where the text was stored.
NamedRecipe recipeFromJson(std::string_view text, const std::string& source);

// path: bytes, taken literally.
NamedRecipe readRecipeFile(const std::string& path);
// Replaces the file in one step.
void writeRecipeFile(const std::string& path, const NamedRecipe& recipe);

// A list of them, for the settings. Entries that cannot be read are left out: one bad recipe must not hide the others.
std::string recipesToJson(const std::vector<NamedRecipe>& recipes);
std::vector<NamedRecipe> recipesFromJson(std::string_view text);

// The options of a method as people write them in JSON: an object of names and values; numbers and true/false need no quotes.
//
// Used for recipes and for lines of a batch. What the values mean is checked by the method's own reader (engine/recipes). Errors: whatever
// `refuse` throws, which gets the field ("options", "options.NAME") and the reason. Pure.
inline constexpr std::size_t kMaxOptions = 256;

// longest: bytes of a text.
template <class Json, class Refuse>
std::map<std::string, std::string> optionsFromJson(const Json& value, std::size_t longest, const Refuse& refuse) {
  if (!value.is_object()) refuse("options", "must be an object of names and values");
  if (value.size() > kMaxOptions) refuse("options", "has more than " + std::to_string(kMaxOptions) + " entries");
  std::map<std::string, std::string> options;
  for (const auto& [name, option] : value.items()) {
    const std::string field = "options." + name;
    if (!option.is_string() && !option.is_number() && !option.is_boolean()) refuse(field, "must be a text, a number, true or false");
    options[name] = option.is_string() ? option.template get<std::string>() : option.dump();
    if (options[name].size() > longest) refuse(field, "is longer than " + std::to_string(longest) + " bytes");
  }
  return options;
}

}  // namespace winnow::app
