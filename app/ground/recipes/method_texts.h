// The meaning of methods, their options and their parts, in words for people: the window's, the terminal's and the README pages'.
//
// MethodInfo has what the engine knows by itself (source, phase, statistics, defaults); the words are here. A test names what
// is missing. English; the window translates purpose, caution, title and help in the context "winnow::app::MethodTexts". Threads: any.
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

}  // namespace winnow::app
