// The options of a method as people write them in JSON: an object of names and values; numbers and true/false need no quotes.
//
// Used for recipes and for lines of a batch. What the values mean is checked by the method's own reader (engine/recipes). Errors: whatever
// `refuse` throws, which gets the field ("options", "options.NAME") and the reason. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace winnow::app {

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
