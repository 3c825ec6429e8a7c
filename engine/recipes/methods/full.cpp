#include "engine/recipes/methods/full.h"

namespace winnow {

Composition full(OptionReader&) {
  Composition composition;
  composition.method = "full";
  return composition;
}

MethodInfo full_info() {
  MethodInfo info;
  info.name = "full";
  info.title = "Full cache";
  info.source = "no compression";
  return info;
}

}  // namespace winnow
