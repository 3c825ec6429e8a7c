// A server's words, taken with care: its JSON is looked up leniently (a value that is missing, null or of another type is nothing, never
// an error), and texts are cut between two characters. Pure; threads: any.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>

#include "engine/base/json_document.h"

namespace winnow::app {

// The value at this path of members; null: there is none.
inline const Json* toldAt(const Json& value, std::initializer_list<const char*> path) {
  const Json* here = &value;
  for (const char* name : path) {
    if (!here->is_object()) return nullptr;
    const auto found = here->find(name);
    if (found == here->end() || found->is_null()) return nullptr;
    here = &*found;
  }
  return here;
}

inline std::string textAt(const Json& value, std::initializer_list<const char*> path) {
  const Json* found = toldAt(value, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

// The beginning of a text in UTF-8, cut between two characters. Pure; threads: any.
inline std::string cutText(std::string text, std::size_t mostBytes) {
  if (text.size() <= mostBytes) return text;
  std::size_t end = mostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

}  // namespace winnow::app
