// The statistics that a composition asks for, in words: what `winnow-cli methods` and the method cards list. Any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/recipes/composition.h"

namespace winnow {

std::vector<std::string> statistics_words(const Composition& composition);

}  // namespace winnow
