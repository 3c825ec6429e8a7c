// Why a part does not fit into a composition. Plain data, no torch.
//
// Returned by the parts' fits(), told to people by Recipe as kIllegalRecipe.
#pragma once

#include <string>

namespace winnow {

struct Refusal {
  std::string setting;  // a field of RecipeSpec, or an option of the method
  std::string reason;   // a sentence
};

}  // namespace winnow
