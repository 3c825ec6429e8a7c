// Everything stays: the reference for all others. The same path with the event disabled.
#include "engine/recipes/methods/method.h"

namespace winnow {

namespace {

Composition full(OptionReader&) {
  Composition composition;
  return composition;
}

}  // namespace

const Method kFull{.name = "full", .title = "Full cache", .source = "no compression", .compose = full};

}  // namespace winnow
