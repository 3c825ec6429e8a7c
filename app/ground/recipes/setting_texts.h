// The meaning of a recipe's settings, in words for people: the recipe editor's and the terminal's.
//
// One row for each of kWholeSettings (engine/recipes/recipe_spec.h); a test names what is missing. English; the window translates title and
// help in the context "winnow::app::SettingTexts". Threads: any.
#pragma once

#include <span>
#include <string_view>

namespace winnow::app {

struct SettingText {
  const char* name;
  const char* title;                          // of its row in the editor
  const char* help;                           // a sentence under it
  const char* terminal;                       // behind the option in --help
  std::span<const char* const> choices = {};  // of a setting with words, in their order: what each means
};

// Null: there is no such setting.
const SettingText* settingText(std::string_view name);

}  // namespace winnow::app
