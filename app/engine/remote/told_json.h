// A server's JSON, looked up leniently: a value that is missing, null or of another type is nothing, never an error. Pure; threads:
// any.
#pragma once

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

}  // namespace winnow::app
