// The list of methods. Adding one is its own file and one line in registry.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "engine/compression/composition.h"
#include "engine/compression/method_info.h"

namespace winnow {

struct MethodEntry {
  const char* name;
  MethodInfo (*info)();
  Composition (*compose)(std::uint64_t seed);  // with default options
};

std::span<const MethodEntry> method_registry();

}  // namespace winnow
