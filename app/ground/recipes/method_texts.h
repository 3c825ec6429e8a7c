// The meaning of methods, their options and parts, and of a recipe's settings, in words for people: the window's, the terminal's and the
// README pages'.
//
// MethodInfo has what the engine knows by itself (source, phase, statistics, defaults); the words are here. A test names what is missing.
// English; the window translates purpose, caution, title and help in the context "winnow::app::MethodTexts". Threads: any.
#pragma once

#include <span>
#include <string_view>

namespace winnow::app {

struct MethodText {
  const char* name;
  const char* idea;     // about eight words, for a table; methods with the same idea share a row there
  const char* purpose;  // what it does
  const char* caution;  // when it is a bad idea
};

struct OptionText {
  const char* name;
  const char* title;  // of its row in the recipe editor
  const char* help;
};

// Both return null if there is no such method or option.
const MethodText* methodText(std::string_view method);
const OptionText* optionText(std::string_view option);

// The work of a part; for an empty name, the title of the kind. Returns null if there is no such part.
const char* partText(std::string_view kind, std::string_view part);

// The meaning of a recipe's settings, in words for people: the recipe editor's and the terminal's.
//
// One row for each of kWholeSettings (engine/recipes/recipe_spec.h), and `before`; a test names what is missing. English; the window
// translates title and help in the context "winnow::app::SettingTexts".
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
