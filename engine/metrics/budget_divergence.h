// How unevenly a method shares slots among layers: Jensen-Shannon divergence of budgets (methods' evaluation definitions, 4.2).
//
// Used by the evaluation's tables. Base 2, so that the range is 0 (the same) to 1 (disjoint). Inputs are non-negative and are divided by
// their sums; a sum of 0 counts as uniform. Errors: Exception(kInternal) for unequal lengths. Pure; any thread.
#pragma once

#include <span>

namespace winnow {

double jensen_shannon_divergence(std::span<const double> p, std::span<const double> q);

// From the same budget for every layer. 0 for no layers.
double divergence_from_uniform(std::span<const double> budgets);

}  // namespace winnow
