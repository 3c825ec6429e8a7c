// Which recipes made a cache what it is.
//
// Kept with a conversation and its file, reported by CacheReport and Planned, saved with answers and sent back by the next Turn. An answer
// therefore names the recipes that made its cache, even if another recipe is selected by now. Plain data; threads: any.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "engine/recipes/recipe_spec.h"

namespace winnow {

struct CacheMaker {
  RecipeSpec recipe;      // as requested
  bool attached = false;  // it compressed images, videos or documents

  friend bool operator==(const CacheMaker&, const CacheMaker&) = default;
};

// In the order of their first prefill; each recipe once. Empty: nothing was prefilled.
using CacheMakers = std::vector<CacheMaker>;

inline void note_maker(CacheMakers& makers, const RecipeSpec& recipe, bool attached) {
  const auto known = std::find_if(makers.begin(), makers.end(), [&](const CacheMaker& maker) { return maker.recipe == recipe; });
  if (known == makers.end()) {
    makers.push_back({recipe, attached});
  } else {
    known->attached = known->attached || attached;
  }
}

// The makers that a cache is named after: those that compressed attachments, or all if nothing is attached. For CacheMaker and its kin.
template <class Makers>
Makers naming_makers(const Makers& makers) {
  Makers named;
  std::copy_if(makers.begin(), makers.end(), std::back_inserter(named), [](const auto& maker) { return maker.attached; });
  return named.empty() ? makers : named;
}

}  // namespace winnow
